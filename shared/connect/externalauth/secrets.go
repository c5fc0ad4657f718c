package externalauth

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// MaskedSecret is a place in a configuration with a Mask that RestoreMaskedSecrets could not replace.
type MaskedSecret struct {
	// Property is the place, as the interface names it.
	Property string
	// Reason says why the stored secret cannot replace it.
	Reason string
}

// RestoreMaskedSecrets replaces each masked secret of c by the one in the same place of stored, and returns those that
// it cannot replace. Stored is the configuration that c replaces, with its secrets; nil if c is new. So a client can
// change a configuration that it has read and send it back. A secret is restored only if it will be sent to the same
// URL as before: otherwise a client that may change configurations could learn their secrets by directing them
// elsewhere.
func (c *Configuration) RestoreMaskedSecrets(stored *Configuration) []MaskedSecret {
	k := restorer{}
	if stored == nil {
		stored, k.reason = &Configuration{}, "The value is a mask. Send the secret itself."
	} else if !sameURL(c.URL, stored.URL) {
		k.reason = "The value is a mask. The secret itself is needed, because the URL is another one."
	}
	c.Headers = k.restoreAll("headers", c.Headers, stored.Headers)
	if c.OAuth == nil {
		return k.missing
	}
	const prefix = "oAuthConfiguration.clientCredentialsConfig."
	o, before := *c.OAuth, OAuth{}
	if stored.OAuth != nil {
		before = *stored.OAuth
		if k.reason == "" && o.URL != before.URL {
			k.reason = "The value is a mask. The secret itself is needed, because the URL of the token endpoint is " +
				"another one."
		}
	}
	o.ClientSecret = k.restore(prefix+"clientSecret", o.ClientSecret, before.ClientSecret, before.ClientSecret != "")
	o.Headers = k.restoreAll(prefix+"headers", o.Headers, before.Headers)
	o.FormValues = k.restoreAll(prefix+"formValues", o.FormValues, before.FormValues)
	c.OAuth = &o
	return k.missing
}

// restorer replaces masked secrets and collects those that it could not replace.
type restorer struct {
	// reason is why no secret may be restored; "" if they may.
	reason  string
	missing []MaskedSecret
}

// restore returns a secret as it was sent or, in place of a mask, as it is stored.
func (k *restorer) restore(property string, sent, stored Secret, isStored bool) Secret {
	switch {
	case !sent.IsMasked():
		return sent
	case k.reason != "":
		k.missing = append(k.missing, MaskedSecret{property, k.reason})
	case !isStored:
		k.missing = append(k.missing, MaskedSecret{property,
			"The value is a mask, but nothing is stored under this name."})
	default:
		return stored
	}
	return ""
}

// restoreAll restores the values of masked pairs. Pairs with the same name correspond in their order.
func (k *restorer) restoreAll(property string, sent, stored []NameValue) []NameValue {
	out, used := slices.Clone(sent), map[string]int{}
	for i, v := range out {
		name := strings.ToLower(v.Name)
		value, ok := nth(stored, name, used[name])
		used[name]++
		out[i].Value = k.restore(fmt.Sprintf("%s.%d.value", property, i), v.Value, value, ok)
	}
	return out
}

// nth returns the value of the nth pair of a name, counted from 0.
func nth(values []NameValue, name string, n int) (Secret, bool) {
	for _, v := range values {
		if strings.ToLower(v.Name) != name {
			continue
		}
		if n == 0 {
			return v.Value, true
		}
		n--
	}
	return "", false
}

// HasMaskedSecrets reports whether RestoreMaskedSecrets has anything to replace, so that the stored secrets are needed.
func (c *Configuration) HasMaskedSecrets() bool {
	isMasked := func(v NameValue) bool { return v.Value.IsMasked() }
	return slices.ContainsFunc(c.Headers, isMasked) || c.OAuth != nil && (c.OAuth.ClientSecret.IsMasked() ||
		slices.ContainsFunc(c.OAuth.Headers, isMasked) || slices.ContainsFunc(c.OAuth.FormValues, isMasked))
}

// sameURL reports whether two URLs have the same canonical spelling.
func sameURL(a, b string) bool {
	first, err1 := CanonicalURL(a)
	second, err2 := CanonicalURL(b)
	return err1 == nil && err2 == nil && first == second
}

// Store keeps configurations. It is safe for concurrent use; a read sees every acknowledged write. Configurations that
// it returns have Mask in place of each secret, and the secrets themselves in Sealed, until Reveal opens them.
type Store interface {
	// Create stores a new configuration. It returns ErrDuplicateURL if the tenant has another one with the same
	// CanonicalURL, also if both are created at the same time, and ErrTooMany if the tenant has MaxConfigurations.
	Create(ctx context.Context, c Configuration) error
	// Get reads a configuration. It returns ErrNotFound if the tenant has no configuration with that ID.
	Get(ctx context.Context, tenant, id string) (Configuration, error)
	// List reads all configurations of a tenant, in the order of their IDs.
	List(ctx context.Context, tenant string) ([]Configuration, error)
	// Save replaces a configuration, as it was read, by another one of the same ID, whose secrets are all unmasked. The
	// new one gets the next Version. It returns ErrChanged if the stored version is another one or none, and
	// ErrDuplicateURL as Create does.
	Save(ctx context.Context, previous, c Configuration) error
	// Delete removes a configuration of c's Version. It returns ErrChanged if the stored version is another one or
	// none.
	Delete(ctx context.Context, c Configuration) error
	// Reveal decrypts Sealed of a configuration that Get or List has returned, and returns the configuration with its
	// secrets in place of the masks.
	Reveal(ctx context.Context, c Configuration) (Configuration, error)
}
