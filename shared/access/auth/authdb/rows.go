package authdb

import (
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access"
	"sluice/shared/access/auth"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
	"sluice/shared/kit/dynamo"
)

const (
	tenantPrefix = "tenant#"
	clientPrefix = "client#"
	tokenPrefix  = "token#"
	keysID       = "keys"
)

// settingsRow holds a tenant's settings for batches, in whole seconds. The row of a batch pins a copy of them.
type settingsRow struct {
	MaxPast    int64  `dynamodbav:"max_past,omitempty"`
	MaxFuture  int64  `dynamodbav:"max_future,omitempty"`
	MainEntity string `dynamodbav:"main_entity,omitempty"`
	Retention  int64  `dynamodbav:"retention,omitempty"`
	Parquet    bool   `dynamodbav:"parquet,omitempty"`
}

type tenantRow struct {
	ID           string      `dynamodbav:"id"`
	BatchEnabled bool        `dynamodbav:"batch_enabled"`
	Settings     settingsRow `dynamodbav:"settings"`
	FourEyes     bool        `dynamodbav:"four_eyes,omitempty"`
	MaskPartial  bool        `dynamodbav:"mask_partial_properties,omitempty"`
	// Limits has those that differ from the defaults, by the names of ratelimit.Setting.
	Limits    map[string]int64 `dynamodbav:"limits,omitempty"`
	CreatedAt string           `dynamodbav:"created_at"`
}

func tenantRowOf(t auth.Tenant) tenantRow {
	var limits map[string]int64
	for name, value := range t.Limits {
		if limits == nil {
			limits = map[string]int64{}
		}
		limits[string(name)] = value
	}
	return tenantRow{
		ID: tenantPrefix + t.ID, BatchEnabled: t.BatchEnabled, CreatedAt: dynamo.FormatTime(t.CreatedAt),
		FourEyes: t.FourEyes, MaskPartial: t.MaskPartialProperties, Limits: limits,
		Settings: settingsRow{
			MaxPast:    int64(t.Settings.MaxPast / time.Second),
			MaxFuture:  int64(t.Settings.MaxFuture / time.Second),
			MainEntity: string(t.Settings.MainEntity),
			Retention:  int64(t.Settings.Retention / time.Second),
			Parquet:    t.Settings.Parquet,
		},
	}
}

func (r tenantRow) tenant() (auth.Tenant, error) {
	createdAt, err := dynamo.ParseTime(r.CreatedAt)
	var limits ratelimit.Settings
	for name, value := range r.Limits {
		if limits == nil {
			limits = ratelimit.Settings{}
		}
		limits[ratelimit.Setting(name)] = value
	}
	return auth.Tenant{
		ID: strings.TrimPrefix(r.ID, tenantPrefix), BatchEnabled: r.BatchEnabled, CreatedAt: createdAt,
		FourEyes: r.FourEyes, MaskPartialProperties: r.MaskPartial, Limits: limits,
		Settings: tenancy.Settings{
			MaxPast:    time.Duration(r.Settings.MaxPast) * time.Second,
			MaxFuture:  time.Duration(r.Settings.MaxFuture) * time.Second,
			MainEntity: tenancy.MainEntityRule(r.Settings.MainEntity),
			Retention:  time.Duration(r.Settings.Retention) * time.Second,
			Parquet:    r.Settings.Parquet,
		},
	}, err
}

type clientRow struct {
	ID          string   `dynamodbav:"id"`
	Tenant      string   `dynamodbav:"tenant"`
	Permissions []string `dynamodbav:"permissions"`
	Salt        []byte   `dynamodbav:"salt"`
	Sum         []byte   `dynamodbav:"sum"`
	NextSalt    []byte   `dynamodbav:"next_salt,omitempty"`
	NextSum     []byte   `dynamodbav:"next_sum,omitempty"`
	NextAt      string   `dynamodbav:"next_at,omitempty"`
	Disabled    bool     `dynamodbav:"disabled"`
	Geographic  []string `dynamodbav:"geographic,omitempty"`
	Business    []string `dynamodbav:"business_related,omitempty"`
	CreatedAt   string   `dynamodbav:"created_at"`
}

func clientRowOf(c auth.Client) clientRow {
	return clientRow{
		ID: clientPrefix + c.ID, Tenant: c.Tenant, Permissions: c.Permissions, Salt: c.Secret.Salt, Sum: c.Secret.Sum,
		NextSalt: c.NextSecret.Salt, NextSum: c.NextSecret.Sum, NextAt: dynamo.FormatTime(c.NextSecretAt),
		Disabled: c.Disabled, Geographic: c.AccessLayers.Geographic, Business: c.AccessLayers.BusinessRelated,
		CreatedAt: dynamo.FormatTime(c.CreatedAt),
	}
}

func (r clientRow) client() (auth.Client, error) {
	createdAt, err1 := dynamo.ParseTime(r.CreatedAt)
	nextAt, err2 := dynamo.ParseTime(r.NextAt)
	return auth.Client{
		ID: strings.TrimPrefix(r.ID, clientPrefix), Tenant: r.Tenant, Permissions: r.Permissions,
		Secret: auth.SecretHash{Salt: r.Salt, Sum: r.Sum}, Disabled: r.Disabled, CreatedAt: createdAt,
		AccessLayers: access.Layers{Geographic: r.Geographic, BusinessRelated: r.Business},
		NextSecret:   auth.SecretHash{Salt: r.NextSalt, Sum: r.NextSum}, NextSecretAt: nextAt,
	}, errors.Join(err1, err2)
}

// tokenRow is a sealed token. Its times are in seconds since 1970.
type tokenRow struct {
	ID         string `dynamodbav:"id"`
	Key        string `dynamodbav:"kid"`
	ReuseUntil int64  `dynamodbav:"reuse_until"`
	Ciphertext []byte `dynamodbav:"sealed"`
	// Expires is for the table's time to live.
	Expires int64 `dynamodbav:"expires"`
}

func tokenRowOf(t auth.SealedToken) tokenRow {
	until := t.ReuseUntil.Unix()
	return tokenRow{ID: tokenPrefix + t.ID, Key: t.Key, ReuseUntil: until, Ciphertext: t.Ciphertext, Expires: until}
}

func (r tokenRow) token() auth.SealedToken {
	return auth.SealedToken{
		ID: strings.TrimPrefix(r.ID, tokenPrefix), Key: r.Key, ReuseUntil: time.Unix(r.ReuseUntil, 0),
		Ciphertext: r.Ciphertext,
	}
}

// keysRow holds all signing keys; Version counts their replacements.
type keysRow struct {
	ID      string   `dynamodbav:"id"`
	Version int64    `dynamodbav:"version"`
	Keys    []keyRow `dynamodbav:"keys"`
}

type keyRow struct {
	ID         string `dynamodbav:"kid"`
	KMSKey     string `dynamodbav:"kms_key"`
	PublicKey  []byte `dynamodbav:"public"`
	ActiveFrom string `dynamodbav:"active_from"`
	RetireAt   string `dynamodbav:"retire_at,omitempty"`
}

func keysRowOf(keys []auth.Key, version int64) keysRow {
	row := keysRow{ID: keysID, Version: version}
	for _, k := range keys {
		row.Keys = append(row.Keys, keyRow{
			ID: k.ID, KMSKey: k.KMSKey, PublicKey: k.PublicKey,
			ActiveFrom: dynamo.FormatTime(k.ActiveFrom), RetireAt: dynamo.FormatTime(k.RetireAt),
		})
	}
	return row
}

func (r keysRow) keys() ([]auth.Key, error) {
	keys := make([]auth.Key, len(r.Keys))
	var errs []error
	for i, k := range r.Keys {
		activeFrom, err1 := dynamo.ParseTime(k.ActiveFrom)
		retireAt, err2 := dynamo.ParseTime(k.RetireAt)
		errs = append(errs, err1, err2)
		keys[i] = auth.Key{ID: k.ID, KMSKey: k.KMSKey, PublicKey: k.PublicKey, ActiveFrom: activeFrom,
			RetireAt: retireAt}
	}
	return keys, errors.Join(errs...)
}

// tenantUpdate is the update of a tenant's row that makes a change of its settings.
type tenantUpdate struct {
	assignments, removals []string
	// values has the values by their placeholders; nil if there are none.
	values dynamo.Item
}

// The maps in a tenant's row whose members are attributes of their own.
const (
	settingsMap = "settings"
	limitsMap   = "limits"
)

// newTenantUpdate returns the update that makes a change. A setting that is nil stays as it is; a limit that is nil is
// removed.
func newTenantUpdate(c auth.TenantChange) tenantUpdate {
	var u tenantUpdate
	if c.MaxPast != nil {
		u.assign(settingsMap, "max_past", dynamo.Number(int64(*c.MaxPast/time.Second)))
	}
	if c.MaxFuture != nil {
		u.assign(settingsMap, "max_future", dynamo.Number(int64(*c.MaxFuture/time.Second)))
	}
	if c.MainEntity != nil {
		u.assign(settingsMap, "main_entity", dynamo.String(string(*c.MainEntity)))
	}
	if c.Retention != nil {
		u.assign(settingsMap, "retention", dynamo.Number(int64(*c.Retention/time.Second)))
	}
	if c.Parquet != nil {
		u.assign(settingsMap, "parquet", dynamo.Bool(*c.Parquet))
	}
	if c.FourEyes != nil {
		u.assign("", "four_eyes", dynamo.Bool(*c.FourEyes))
	}
	if c.MaskPartialProperties != nil {
		u.assign("", "mask_partial_properties", dynamo.Bool(*c.MaskPartialProperties))
	}
	for name, value := range c.Limits {
		if value != nil {
			u.assign(limitsMap, string(name), dynamo.Number(*value))
		} else {
			u.removals = append(u.removals, pathOf(limitsMap, string(name)))
		}
	}
	return u
}

// assign sets an attribute of the row or, if in is not "", a member of that map.
func (u *tenantUpdate) assign(in, name string, value types.AttributeValue) {
	if u.values == nil {
		u.values = dynamo.Item{}
	}
	u.assignments = append(u.assignments, pathOf(in, name)+" = :"+name)
	u.values[":"+name] = value
}

// pathOf returns the path of an attribute of the row or, if in is not "", of a member of that map.
func pathOf(in, name string) string {
	if in == "" {
		return "#" + name
	}
	return "#" + in + ".#" + name
}

func (u *tenantUpdate) isEmpty() bool { return len(u.assignments)+len(u.removals) == 0 }

// expression returns the update expression.
func (u *tenantUpdate) expression() string {
	var clauses []string
	if len(u.assignments) > 0 {
		clauses = append(clauses, "SET "+strings.Join(u.assignments, ", "))
	}
	if len(u.removals) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(u.removals, ", "))
	}
	return strings.Join(clauses, " ")
}
