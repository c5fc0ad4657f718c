// Package outbounddb keeps the client keys of tenants in DynamoDB.
package outbounddb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/outbound"
	"sluice/shared/kit/dynamo"
)

// Keys is the outbound.KeyStore. Its table has the keys kind and tenant, with the rows
//
//	client-key  <tenant>  the tenant's client key
type Keys struct{ table dynamo.Table }

var _ outbound.KeyStore = (*Keys)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Keys { return &Keys{dynamo.Table{DB: db, Name: table}} }

const clientKeyKind = "client-key"

// keyRow is a client key. Its private half is in KMS alone.
type keyRow struct {
	Kind         string           `dynamodbav:"kind"`
	Tenant       string           `dynamodbav:"tenant"`
	ID           string           `dynamodbav:"kid"`
	KMSKey       string           `dynamodbav:"kms_key"`
	PublicKey    []byte           `dynamodbav:"public"`
	Certificates []certificateRow `dynamodbav:"certificates,omitempty"`
	CreatedAt    string           `dynamodbav:"created_at"`
	InstalledAt  string           `dynamodbav:"installed_at,omitempty"`
}

// certificateRow is a certificate of a chain. A list of bytes would be stored as a set, which has no order.
type certificateRow struct {
	DER []byte `dynamodbav:"der"`
}

func certificateRows(certificates [][]byte) []certificateRow {
	rows := make([]certificateRow, len(certificates))
	for i, der := range certificates {
		rows[i].DER = der
	}
	return rows
}

func (r keyRow) key() (outbound.ClientKey, error) {
	createdAt, err1 := dynamo.ParseTime(r.CreatedAt)
	installedAt, err2 := dynamo.ParseTime(r.InstalledAt)
	var certificates [][]byte
	for _, c := range r.Certificates {
		certificates = append(certificates, c.DER)
	}
	return outbound.ClientKey{
		Tenant: r.Tenant, ID: r.ID, KMSKey: r.KMSKey, PublicKey: r.PublicKey, Certificates: certificates,
		CreatedAt: createdAt, InstalledAt: installedAt,
	}, errors.Join(err1, err2)
}

func rowKey(tenant string) dynamo.Item {
	return dynamo.Item{"kind": dynamo.String(clientKeyKind), "tenant": dynamo.String(tenant)}
}

// ClientKey implements outbound.KeyStore.
func (s *Keys) ClientKey(ctx context.Context, tenant string) (outbound.ClientKey, error) {
	item, err := s.table.Get(ctx, rowKey(tenant))
	if err != nil {
		return outbound.ClientKey{}, fmt.Errorf("read client key: %w", err)
	}
	if item == nil {
		return outbound.ClientKey{}, outbound.ErrNoClientKey
	}
	return unmarshal(item)
}

func unmarshal(item dynamo.Item) (outbound.ClientKey, error) {
	var row keyRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return outbound.ClientKey{}, fmt.Errorf("read client key: %w", err)
	}
	return row.key()
}

// AllClientKeys implements outbound.KeyStore.
func (s *Keys) AllClientKeys(ctx context.Context) ([]outbound.ClientKey, error) {
	all := []outbound.ClientKey{}
	query := s.table.Select("kind = :kind", dynamo.Item{":kind": dynamo.String(clientKeyKind)})
	for item, err := range s.table.Query(ctx, query) {
		if err != nil {
			return nil, fmt.Errorf("list client keys: %w", err)
		}
		key, err := unmarshal(item)
		if err != nil {
			return nil, err
		}
		all = append(all, key)
	}
	return all, nil
}

// CreateClientKey implements outbound.KeyStore.
func (s *Keys) CreateClientKey(ctx context.Context, k outbound.ClientKey) error {
	row := keyRow{
		Kind: clientKeyKind, Tenant: k.Tenant, ID: k.ID, KMSKey: k.KMSKey, PublicKey: k.PublicKey,
		Certificates: certificateRows(k.Certificates), CreatedAt: dynamo.FormatTime(k.CreatedAt),
		InstalledAt: dynamo.FormatTime(k.InstalledAt),
	}
	item, err := attributevalue.MarshalMap(row)
	if err != nil {
		return err
	}
	return s.table.Apply(ctx, "create client key",
		s.table.Put(item, "attribute_not_exists(tenant)", nil).Or(outbound.ErrClientKeyExists))
}

// InstallCertificates implements outbound.KeyStore.
func (s *Keys) InstallCertificates(ctx context.Context, k outbound.ClientKey) error {
	certificates, err := attributevalue.Marshal(certificateRows(k.Certificates))
	if err != nil {
		return err
	}
	return s.table.Apply(ctx, "install client certificate",
		s.table.Update(rowKey(k.Tenant), "SET certificates = :certificates, installed_at = :now", "kid = :kid",
			dynamo.Item{
				":certificates": certificates, ":now": dynamo.String(dynamo.FormatTime(k.InstalledAt)),
				":kid": dynamo.String(k.ID),
			}).Or(outbound.ErrNoClientKey))
}
