package parquetfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"sluice/shared/ingest/transaction/schema"
)

// leafValue returns the value of a column from the text of a field of a kind.
func leafValue(kind schema.Kind, text []byte) (parquet.Value, error) {
	switch kind {
	case schema.KindDateTime, schema.KindCreatedAt:
		t, err := parseDateTime(string(text))
		return parquet.Int64Value(t.UnixMicro()), err
	case schema.KindInteger:
		n, err := strconv.ParseInt(string(text), 10, 32)
		return parquet.Int32Value(int32(n)), err
	}
	return parquet.ByteArrayValue(text), nil
}

// parseDateTime parses a date-time of an accepted line, whose offset may be left out for UTC. Of its fraction, what is
// less than a microsecond is cut off by the column.
func parseDateTime(text string) (time.Time, error) {
	if len(text) > 6 && text[len(text)-1] != 'Z' && text[len(text)-6] != '+' && text[len(text)-6] != '-' {
		return time.Parse("2006-01-02T15:04:05", text)
	}
	return time.Parse(time.RFC3339, text)
}

// pow10 are the powers of ten that fit 64 bits.
var pow10 = func() (powers [20]uint64) {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = powers[i-1] * 10
	}
	return powers
}()

// appendDecimal appends the unscaled value of a JSON number as a decimal of this package: 16 bytes, big endian, in
// two's complement. It returns false for a number that is not exactly a decimal: one with too many digits before or
// after the point.
func appendDecimal(to, number []byte) ([]byte, bool) {
	number, negative := bytes.CutPrefix(number, []byte("-"))
	mantissa, exponent := number, 0
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		mantissa = number[:i]
		exponent, _ = strconv.Atoi(string(number[i+1:])) // one that is too large becomes the largest int
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits := make([]byte, 0, 64)
	digits = append(append(digits, whole...), fraction...)
	digits = bytes.TrimLeft(digits, "0")
	significant := bytes.TrimRight(digits, "0")
	if len(significant) == 0 {
		return append(to, make([]byte, 16)...), true
	}
	// The unscaled value is the significant digits followed by this many zeros.
	zeros := len(digits) - len(significant) - len(fraction) + decimalScale
	if exponent > decimalPrecision+len(digits) || exponent < -decimalPrecision-len(digits) {
		return to, false
	}
	if zeros += exponent; zeros < 0 || len(significant)+zeros > decimalPrecision {
		return to, false
	}
	high, low := unscaled(significant, zeros)
	if negative {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	to = binary.BigEndian.AppendUint64(to, high)
	return binary.BigEndian.AppendUint64(to, low), true
}

// unscaled returns the value of at most decimalPrecision digits followed by zeros.
func unscaled(digits []byte, zeros int) (high, low uint64) {
	for _, d := range digits {
		high, low = timesPlus(high, low, 10, uint64(d-'0'))
	}
	for ; zeros > 0; zeros -= min(zeros, 19) {
		high, low = timesPlus(high, low, pow10[min(zeros, 19)], 0)
	}
	return high, low
}

// timesPlus returns a number of 128 bits times a factor plus a summand, which must fit 128 bits.
func timesPlus(high, low, factor, plus uint64) (uint64, uint64) {
	carry, product := bits.Mul64(low, factor)
	product, overflow := bits.Add64(product, plus, 0)
	return high*factor + carry + overflow, product
}
