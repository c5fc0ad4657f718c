package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a delivery.
const (
	// HeaderDelivery has the ID of the delivery. It is the same at every attempt.
	HeaderDelivery = "x-sluice-delivery"
	// HeaderSignature has the signature of the body alone: "sha256=" and the HMAC in upper-case hexadecimal digits.
	HeaderSignature = "x-signature"
	// HeaderVersioned has a signature that also covers the delivery's ID and the time of the attempt.
	HeaderVersioned = "x-sluice-signature"
)

// SignatureTolerance is how far the time of an attempt may be from the clock of its receiver.
const SignatureTolerance = 5 * time.Minute

// signaturePrefix begins the value of HeaderSignature.
const signaturePrefix = "sha256="

// Secrets are the secrets that sign a delivery, in clear.
type Secrets struct {
	Current string
	// Previous is the secret that Current has replaced, while it counts; otherwise "".
	Previous string
}

// Sign sets the headers of one attempt to deliver a body. While a secret is being replaced, HeaderSignature has room
// for one signature and is still made with the previous secret; HeaderVersioned has one of each.
func Sign(header http.Header, delivery string, at time.Time, body []byte, s Secrets) {
	old := s.Previous
	if old == "" {
		old = s.Current
	}
	header.Set(HeaderDelivery, delivery)
	header.Set(HeaderSignature, BodySignature(old, body))
	t := at.Unix()
	value := fmt.Sprintf("t=%d,v1=%s", t, versionedSignature(s.Current, delivery, t, body))
	if s.Previous != "" {
		value += ",v1=" + versionedSignature(s.Previous, delivery, t, body)
	}
	header.Set(HeaderVersioned, value)
}

// BodySignature returns the value of HeaderSignature for a body.
func BodySignature(secret string, body []byte) string {
	return signaturePrefix + strings.ToUpper(hex.EncodeToString(mac(secret, body)))
}

// versionedSignature returns the HMAC of "id.t.body" in hexadecimal digits.
func versionedSignature(secret, delivery string, t int64, body []byte) string {
	return hex.EncodeToString(mac(secret, fmt.Appendf(nil, "%s.%d.", delivery, t), body))
}

func mac(secret string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Errors of Verify.
var (
	// ErrNoSignature means that HeaderVersioned is missing or cannot be read.
	ErrNoSignature = errors.New("the header " + HeaderVersioned + " is missing or malformed")
	// ErrSignature means that no signature was made with the secret: the delivery is forged or was changed, or the
	// secret is another one.
	ErrSignature = errors.New("no signature matches: the secret is another one, or the body was changed")
	// ErrSignatureTime means that the signature is genuine but too old, or from the future: the delivery may be a
	// repetition by somebody who recorded it.
	ErrSignatureTime = errors.New("the time of the signature is more than 5 minutes from now")
)

// Verify checks a delivery as a receiver does: one of the signatures in HeaderVersioned must be made with the secret,
// and its time must be within SignatureTolerance of now. body must be the bytes as they were received.
func Verify(header http.Header, body []byte, secret string, now time.Time) error {
	t, signatures, err := parseVersioned(header.Get(HeaderVersioned))
	delivery := header.Get(HeaderDelivery)
	if err != nil || delivery == "" {
		return ErrNoSignature
	}
	want := mac(secret, fmt.Appendf(nil, "%s.%d.", delivery, t), body)
	isGenuine := false
	for _, signature := range signatures {
		isGenuine = hmac.Equal(signature, want) || isGenuine
	}
	if !isGenuine {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(t, 0)); age > SignatureTolerance || age < -SignatureTolerance {
		return ErrSignatureTime
	}
	return nil
}

// parseVersioned reads a value of HeaderVersioned: one t and one v1 or more. Other names are ignored, so that versions
// can be added.
func parseVersioned(value string) (t int64, signatures [][]byte, err error) {
	times := 0
	for field := range strings.SplitSeq(value, ",") {
		name, text, _ := strings.Cut(field, "=")
		switch name {
		case "t":
			times++
			// The digits are part of the signed text, so they have one form.
			if t, err = strconv.ParseInt(text, 10, 64); err != nil || strconv.FormatInt(t, 10) != text || t < 0 {
				return 0, nil, ErrNoSignature
			}
		case "v1":
			signature, err := hex.DecodeString(text)
			if err != nil || len(signature) != sha256.Size {
				return 0, nil, ErrNoSignature
			}
			signatures = append(signatures, signature)
		}
	}
	if times != 1 || len(signatures) == 0 {
		return 0, nil, ErrNoSignature
	}
	return t, signatures, nil
}
