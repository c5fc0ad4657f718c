package screeningdb

import (
	"encoding/json"
	"fmt"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
)

const (
	// configurationOwner is the owner of a tenant's configuration, after the tenant.
	configurationOwner = "configuration"
	providerPrefix     = "provider#"
)

var errProviderTooLarge = fault.Newf(fault.TooLarge, "provider_too_large",
	"The provider with its settings and sets would have more than %d bytes as JSON.", screening.MaxProviderBytes)

// configuredBody is a configured provider as it is stored, without its keys.
type configuredBody struct {
	ID           string                       `json:"id"`
	Name         string                       `json:"name"`
	Adapter      *adapterBody                 `json:"adapter"`
	Fields       []screening.SettingField     `json:"fields"`
	Sets         []screening.ConfigurationSet `json:"sets"`
	ValidityDays int                          `json:"validityDays"`
	CreatedAt    time.Time                    `json:"createdAt"`
	UpdatedAt    time.Time                    `json:"updatedAt"`
	UpdatedBy    string                       `json:"updatedBy"`
}

type adapterBody struct {
	URL                    string `json:"url"`
	IsAuthenticationActive bool   `json:"authenticationActive"`
	HasAuthenticationKey   bool   `json:"hasAuthenticationKey"`
	HasEncryptionKey       bool   `json:"hasEncryptionKey"`
}

// keysBody is the keys of an adapter, as JSON.
type keysBody struct {
	AuthenticationKey string `json:"authenticationKey,omitempty"`
	EncryptionKey     string `json:"encryptionKey,omitempty"`
}

func providerKey(tenant, id string) dynamo.Item {
	return key(tenant, configurationOwner, providerPrefix+id)
}

// marshalProvider returns the row of a provider whose keys are sealed. The fields of the built-in provider, which the
// program defines, are not stored.
func marshalProvider(p screening.Provider) (dynamo.Item, error) {
	body := configuredBody{ID: p.ID, Name: p.Name, Sets: p.Sets, ValidityDays: p.ValidityDays,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, UpdatedBy: p.UpdatedBy}
	if a := p.Adapter; a != nil {
		body.Adapter = &adapterBody{a.URL, a.IsAuthenticationActive, a.AuthenticationKey != "", a.EncryptionKey != ""}
	}
	if !p.IsBuiltIn() {
		body.Fields = p.Fields
	}
	item, err := marshal(providerKey(p.Tenant, p.ID), body, p.Version, screening.MaxProviderBytes, errProviderTooLarge)
	if err == nil && len(p.Sealed) > 0 {
		item["sealed"] = dynamo.Binary(p.Sealed)
	}
	return item, err
}

// unmarshalProvider reads a provider with masked keys.
func unmarshalProvider(tenant string, item dynamo.Item) (screening.Provider, error) {
	body, err := unmarshalBody[configuredBody](item)
	if err != nil {
		return screening.Provider{}, err
	}
	p := screening.Provider{Tenant: tenant, ID: body.ID, Name: body.Name, Fields: body.Fields, Sets: body.Sets,
		ValidityDays: body.ValidityDays, CreatedAt: body.CreatedAt, UpdatedAt: body.UpdatedAt,
		UpdatedBy: body.UpdatedBy,
		Version:   dynamo.NumberAttribute(item, "version"), Sealed: dynamo.BinaryAttribute(item, "sealed")}
	if a := body.Adapter; a != nil {
		p.Adapter = &screening.Adapter{URL: a.URL, IsAuthenticationActive: a.IsAuthenticationActive,
			AuthenticationKey: maskIf(a.HasAuthenticationKey), EncryptionKey: maskIf(a.HasEncryptionKey)}
	}
	if p.IsBuiltIn() {
		p.Fields = screening.BuiltInProvider(tenant).Fields
	}
	return p, nil
}

func maskIf(isStored bool) externalauth.Secret {
	if isStored {
		return externalauth.Mask
	}
	return ""
}

// keysOf returns the keys of a provider as JSON, nil if it has none.
func keysOf(p screening.Provider) ([]byte, error) {
	if p.Adapter == nil || p.Adapter.AuthenticationKey == "" && p.Adapter.EncryptionKey == "" {
		return nil, nil
	}
	return json.Marshal(keysBody{p.Adapter.AuthenticationKey.Reveal(), p.Adapter.EncryptionKey.Reveal()})
}

// withKeys returns a provider with the keys that keysOf has written for it.
func withKeys(p screening.Provider, keys []byte) (screening.Provider, error) {
	var body keysBody
	if err := json.Unmarshal(keys, &body); err != nil || p.Adapter == nil {
		return screening.Provider{}, fmt.Errorf("read the keys of provider %s: not the keys of an adapter", p.ID)
	}
	a := *p.Adapter
	a.AuthenticationKey = externalauth.Secret(body.AuthenticationKey)
	a.EncryptionKey = externalauth.Secret(body.EncryptionKey)
	p.Adapter = &a
	return p, nil
}
