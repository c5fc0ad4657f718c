package adapter

import (
	"errors"

	"sluice/shared/screening"
)

// ErrNoAdapter means that a provider has no adapter, as the built-in one.
var ErrNoAdapter = errors.New("the provider has no adapter")

// KeysOf returns the keys of a provider whose keys are revealed; nil if its messages are not authenticated, which are
// not encrypted then either: what is encrypted and not authenticated can be changed. Its errors say what is wrong
// with the configuration.
func KeysOf(p screening.Provider) (*Keys, error) {
	switch a := p.Adapter; {
	case a == nil:
		return nil, ErrNoAdapter
	case a.IsAuthenticationActive:
		return ParseKeys(a.EncryptionKey.Reveal(), a.AuthenticationKey.Reveal())
	case a.EncryptionKey != "":
		return nil, errors.New("there is a key for encryption, but authentication is not active")
	}
	return nil, nil
}
