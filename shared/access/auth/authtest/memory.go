// Package authtest holds a registry in memory and what every registry must do.
package authtest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/shared/access/auth"
)

// Memory is an auth.Registry in memory.
type Memory struct {
	// Fail, if set before the first use, is asked at the start of every method, by its name; its error is returned and
	// nothing is read or written.
	Fail func(method string) error

	mu      sync.Mutex
	tenants map[string]auth.Tenant
	clients map[string]auth.Client
	tokens  map[string]auth.SealedToken
	keys    []auth.Key
	version int64
	calls   map[string]int
}

var _ auth.Registry = (*Memory)(nil)

// NewMemory returns an empty registry.
func NewMemory() *Memory {
	return &Memory{tenants: map[string]auth.Tenant{}, clients: map[string]auth.Client{},
		tokens: map[string]auth.SealedToken{}, calls: map[string]int{}}
}

// Calls returns how often a method was called.
func (m *Memory) Calls(method string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[method]
}

func (m *Memory) lock(method string) (unlock func(), err error) {
	m.mu.Lock()
	m.calls[method]++
	if m.Fail != nil {
		err = m.Fail(method)
	}
	return m.mu.Unlock, err
}

// CreateTenant implements auth.Registry.
func (m *Memory) CreateTenant(_ context.Context, t auth.Tenant) error {
	leave, err := m.lock("CreateTenant")
	defer leave()
	if _, exists := m.tenants[t.ID]; exists && err == nil {
		err = auth.ErrExists
	}
	if err == nil {
		m.tenants[t.ID] = t
	}
	return err
}

// Tenant implements auth.Registry.
func (m *Memory) Tenant(_ context.Context, id string) (auth.Tenant, error) {
	leave, err := m.lock("Tenant")
	defer leave()
	return find(m.tenants, id, err)
}

func find[T any](in map[string]T, id string, err error) (T, error) {
	one, found := in[id]
	if err == nil && !found {
		err = auth.ErrNotFound
	}
	if err != nil {
		return *new(T), err
	}
	return one, nil
}

// Tenants implements auth.Registry.
func (m *Memory) Tenants(context.Context) ([]auth.Tenant, error) {
	leave, err := m.lock("Tenants")
	defer leave()
	return sorted(m.tenants, func(t auth.Tenant) string { return t.ID }), err
}

func sorted[T any](in map[string]T, id func(T) string) []T {
	return slices.SortedFunc(maps.Values(in), func(a, b T) int { return strings.Compare(id(a), id(b)) })
}

// EnableBatch implements auth.Registry.
func (m *Memory) EnableBatch(_ context.Context, tenant string, on bool) (auth.Tenant, error) {
	leave, err := m.lock("EnableBatch")
	defer leave()
	t, err := find(m.tenants, tenant, err)
	if err != nil {
		return auth.Tenant{}, err
	}
	t.BatchEnabled = on
	m.tenants[tenant] = t
	return t, nil
}

// ChangeTenant implements auth.Registry.
func (m *Memory) ChangeTenant(_ context.Context, tenant string, c auth.TenantChange) (auth.Tenant, error) {
	leave, err := m.lock("ChangeTenant")
	defer leave()
	t, err := find(m.tenants, tenant, err)
	if err != nil {
		return auth.Tenant{}, err
	}
	m.tenants[tenant] = c.Apply(t)
	return m.tenants[tenant], nil
}

// CreateClient implements auth.Registry.
func (m *Memory) CreateClient(_ context.Context, c auth.Client) error {
	leave, err := m.lock("CreateClient")
	defer leave()
	if _, err := find(m.tenants, c.Tenant, err); err != nil {
		return err
	}
	if _, exists := m.clients[c.ID]; exists {
		return auth.ErrExists
	}
	m.clients[c.ID] = c
	return nil
}

// Client implements auth.Registry.
func (m *Memory) Client(_ context.Context, id string) (auth.Client, error) {
	leave, err := m.lock("Client")
	defer leave()
	return find(m.clients, id, err)
}

// Clients implements auth.Registry.
func (m *Memory) Clients(context.Context) ([]auth.Client, error) {
	leave, err := m.lock("Clients")
	defer leave()
	return sorted(m.clients, func(c auth.Client) string { return c.ID }), err
}

// DisableClient implements auth.Registry.
func (m *Memory) DisableClient(_ context.Context, id string) (auth.Client, error) {
	leave, err := m.lock("DisableClient")
	defer leave()
	c, err := find(m.clients, id, err)
	if err != nil {
		return auth.Client{}, err
	}
	c.Disabled = true
	m.clients[id] = c
	return c, nil
}

// AddSecret implements auth.Registry.
func (m *Memory) AddSecret(_ context.Context, client string, secret auth.SecretHash, at time.Time) (auth.Client,
	error) {
	return m.changeSecrets("AddSecret", client, func(c *auth.Client) error {
		if c.NextSecret.Sum != nil {
			return auth.ErrTwoSecrets
		}
		c.NextSecret, c.NextSecretAt = secret, at
		return nil
	})
}

// RemoveSecret implements auth.Registry.
func (m *Memory) RemoveSecret(_ context.Context, client string, newer bool) (auth.Client, error) {
	return m.changeSecrets("RemoveSecret", client, func(c *auth.Client) error {
		if c.NextSecret.Sum == nil {
			return auth.ErrOneSecret
		}
		if !newer {
			c.Secret = c.NextSecret
		}
		c.NextSecret, c.NextSecretAt = auth.SecretHash{}, time.Time{}
		return nil
	})
}

func (m *Memory) changeSecrets(call, client string, change func(*auth.Client) error) (auth.Client, error) {
	leave, err := m.lock(call)
	defer leave()
	c, err := find(m.clients, client, err)
	if err == nil {
		err = change(&c)
	}
	if err != nil {
		return auth.Client{}, err
	}
	m.clients[client] = c
	return c, nil
}

// ClientAndTenant implements auth.Registry.
func (m *Memory) ClientAndTenant(_ context.Context, client, tenant string) (auth.Client, auth.Tenant, error) {
	leave, err := m.lock("ClientAndTenant")
	defer leave()
	c, err := find(m.clients, client, err)
	if err != nil {
		return auth.Client{}, auth.Tenant{}, err
	}
	t, err := find(m.tenants, tenant, nil)
	if err != nil {
		return auth.Client{}, auth.Tenant{}, err
	}
	return c, t, nil
}

// SealedToken implements auth.Registry.
func (m *Memory) SealedToken(_ context.Context, id string) (auth.SealedToken, error) {
	leave, err := m.lock("SealedToken")
	defer leave()
	return find(m.tokens, id, err)
}

// Tokens returns the sealed tokens.
func (m *Memory) Tokens() map[string]auth.SealedToken {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tokens)
}

// SetToken stores a sealed token in place of any other.
func (m *Memory) SetToken(t auth.SealedToken) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens[t.ID] = t
}

// StoreSealedToken implements auth.Registry.
func (m *Memory) StoreSealedToken(_ context.Context, t auth.SealedToken, now time.Time) (auth.SealedToken, error) {
	leave, err := m.lock("StoreSealedToken")
	defer leave()
	if err != nil {
		return auth.SealedToken{}, err
	}
	if old, exists := m.tokens[t.ID]; exists && old.Key == t.Key && now.Before(old.ReuseUntil) {
		return old, nil
	}
	m.tokens[t.ID] = t
	return t, nil
}

// Keys implements auth.Registry.
func (m *Memory) Keys(context.Context) ([]auth.Key, int64, error) {
	leave, err := m.lock("Keys")
	defer leave()
	if err != nil {
		return nil, 0, err
	}
	return slices.Clone(m.keys), m.version, nil
}

// ReplaceKeys implements auth.Registry.
func (m *Memory) ReplaceKeys(_ context.Context, keys []auth.Key, version int64) error {
	leave, err := m.lock("ReplaceKeys")
	defer leave()
	if err == nil && version != m.version {
		err = auth.ErrChanged
	}
	if err == nil {
		m.keys, m.version = slices.Clone(keys), version+1
	}
	return err
}
