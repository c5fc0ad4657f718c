package batch

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// RejectLimit is how many invalid transactions a batch may have without being rejected: a number of them, or a share
// of all its transactions. One that has more is rejected.
type RejectLimit struct {
	// Lines is the number; 0 if there is a share.
	Lines int64
	// Share is the share; empty if there is a number.
	Share Share
}

// IsExceeded reports whether a number of invalid transactions of a total is more than the limit allows. It calculates
// exactly.
func (l RejectLimit) IsExceeded(invalid, total int64) bool {
	if l.Share == "" {
		return invalid > l.Lines
	}
	// The share has the value digits / 10^places percent.
	digits, places := l.Share.decimal()
	have := new(big.Int).Mul(big.NewInt(invalid), new(big.Int).Mul(big.NewInt(100), places))
	return have.Cmp(digits.Mul(digits, big.NewInt(total))) > 0
}

// String returns the limit as clients write it: a number, or a percentage.
func (l RejectLimit) String() string {
	if l.Share != "" {
		return string(l.Share)
	}
	return strconv.FormatInt(l.Lines, 10)
}

// Share is a percentage as a client writes it, for example "0.5%". It is a decimal number from 0 to 100 without a sign
// or an exponent.
type Share string

// ErrNotShare means that a string is not a share.
var ErrNotShare = errors.New("batch: not a share, which is a percentage from 0% to 100% such as \"0.5%\"")

// A share has at most three digits before its point and fifteen after it.
var sharePattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,2})(\.[0-9]{1,15})?%$`)

// ParseShare returns a string as a share. It returns ErrNotShare for any other string.
func ParseShare(s string) (Share, error) {
	if !sharePattern.MatchString(s) {
		return "", ErrNotShare
	}
	digits, places := Share(s).decimal()
	if digits.Cmp(places.Mul(places, big.NewInt(100))) > 0 {
		return "", ErrNotShare
	}
	return Share(s), nil
}

// decimal returns the digits of a percentage as one number, and ten to the power of the number of places.
func (s Share) decimal() (digits, places *big.Int) {
	whole, fraction, _ := strings.Cut(strings.TrimSuffix(string(s), "%"), ".")
	digits, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		digits = new(big.Int)
	}
	return digits, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
}

// Encoding is how the lines of a file are packed.
type Encoding string

// The encodings, by the names that requests and replies have.
const (
	Identity Encoding = "identity"
	Gzip     Encoding = "gzip"
	Zstd     Encoding = "zstd"
)

// Declared is the client's announcement of the bytes that it uploads.
type Declared struct {
	// Length is their number; 0 if it is not announced.
	Length int64
	// SHA256 is their digest; nil if it is not announced.
	SHA256 []byte
	// Encoding is how they are packed; empty if it is not announced.
	Encoding Encoding
}

// OnDuplicate is the treatment of a batch whose file was processed before.
type OnDuplicate string

// Rejects reports whether the batch is rejected if its file was processed before.
func (d OnDuplicate) Rejects() bool { return d == RejectDuplicate || d == RejectOpenDuplicate }

// The treatments of such a batch; an empty OnDuplicate is AcceptDuplicate.
const (
	AcceptDuplicate OnDuplicate = "accept"
	RejectDuplicate OnDuplicate = "reject"
	// RejectOpenDuplicate is RejectDuplicate, and rejects the batch also while another one with its file is being
	// processed.
	RejectOpenDuplicate OnDuplicate = "reject_open"
)
