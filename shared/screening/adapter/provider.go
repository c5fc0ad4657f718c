package adapter

import (
	"errors"

	"sluice/shared/screening"
)

// ErrNoAdapter means that a provider has no adapter, as the built-in one.
var ErrNoAdapter = errors.New("the provider has no adapter")

// KeysOf returns the keys of a provider whose keys are revealed. It returns nil for a provider without authentication,
// whose messages are not encrypted either. Its errors explain the configuration: that there is no adapter, that a key
// is not valid, or that messages would be encrypted without authentication, so that they could be changed unnoticed.
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
