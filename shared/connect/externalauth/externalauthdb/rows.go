package externalauthdb

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
)

// maxRowBytes is the largest size of the parts of a row that vary much. DynamoDB allows 400 KB for the whole item; the
// rest is for attribute names, numbers and times.
const maxRowBytes = 380_000

var errTooLarge = fault.New(fault.TooLarge, "configuration_too_large",
	"Certificates, headers and form values of the configuration are too large together.")

const (
	configurationPrefix = "configuration#"
	urlPrefix           = "url#"

	// watched is the value of the partition key of the index of due notices, which has a single partition.
	watched = "certificates"
	// noticeFormat sorts as times do.
	noticeFormat = "2006-01-02T15:04:05Z"
)

// configurationRow is a configuration as it is stored.
type configurationRow struct {
	Tenant              string          `dynamodbav:"owner"`
	Part                string          `dynamodbav:"part"`
	URL                 string          `dynamodbav:"url"`
	IsMTLSEnabled       bool            `dynamodbav:"mtls"`
	EndpointCertificate *certificateRow `dynamodbav:"certificate,omitempty"`
	Headers             []nameValueRow  `dynamodbav:"headers,omitempty"`
	OAuth               *oauthRow       `dynamodbav:"oauth,omitempty"`
	// Noticed holds times by thumbprints.
	Noticed map[string]string `dynamodbav:"noticed,omitempty"`
	// Watched and NoticeAt are the keys of the index of due notices. They are absent if no notice will be due.
	Watched  string `dynamodbav:"watched,omitempty"`
	NoticeAt string `dynamodbav:"notice_at,omitempty"`
	// Sealed is a secretsBody as package sealed encrypts it.
	Sealed    []byte `dynamodbav:"sealed,omitempty"`
	CreatedAt string `dynamodbav:"created_at"`
	UpdatedAt string `dynamodbav:"updated_at"`
	UpdatedBy string `dynamodbav:"updated_by"`
	Version   int64  `dynamodbav:"version"`
}

type certificateRow struct {
	IsPublicCA bool   `dynamodbav:"public_ca"`
	PEM        string `dynamodbav:"pem,omitempty"`
	NextPEM    string `dynamodbav:"next_pem,omitempty"`
	// Mode is absent in rows stored before there were modes.
	Mode externalauth.ValidationMode `dynamodbav:"mode,omitempty"`
}

// nameValueRow is a header or a form value. Only a value that is no secret is stored here.
type nameValueRow struct {
	Name  string `dynamodbav:"name"`
	Value string `dynamodbav:"value,omitempty"`
}

type oauthRow struct {
	URL                    string          `dynamodbav:"url"`
	ClientID               string          `dynamodbav:"client_id"`
	HasSecret              bool            `dynamodbav:"has_secret"`
	UseBasicAuthentication bool            `dynamodbav:"basic"`
	UseEndpointMTLS        bool            `dynamodbav:"endpoint_mtls"`
	IsMTLSEnabled          bool            `dynamodbav:"mtls"`
	EndpointCertificate    *certificateRow `dynamodbav:"certificate,omitempty"`
	IsAssertionEnabled     bool            `dynamodbav:"assertion"`
	Headers                []nameValueRow  `dynamodbav:"headers,omitempty"`
	FormValues             []nameValueRow  `dynamodbav:"form_values,omitempty"`
}

func configurationKey(tenant, id string) dynamo.Item {
	return dynamo.Key(tenant, configurationPrefix+id)
}

// marshal returns the row of a configuration whose secrets are sealed.
func marshal(c externalauth.Configuration) (dynamo.Item, error) {
	row := configurationRow{
		Tenant: c.Tenant, Part: configurationPrefix + c.ID, URL: c.URL, IsMTLSEnabled: c.IsMTLSEnabled,
		EndpointCertificate: certificateRowOf(c.EndpointCertificate), Headers: nameRows(c.Headers), Sealed: c.Sealed,
		CreatedAt: dynamo.FormatTime(c.CreatedAt), UpdatedAt: dynamo.FormatTime(c.UpdatedAt), UpdatedBy: c.UpdatedBy,
		Version: c.Version,
	}
	row.Noticed = noticedTexts(c)
	if next := c.NextNotice(); !next.IsZero() {
		row.Watched, row.NoticeAt = watched, next.UTC().Format(noticeFormat)
	}
	if o := c.OAuth; o != nil {
		row.OAuth = &oauthRow{
			URL: o.URL, ClientID: o.ClientID, HasSecret: o.ClientSecret != "",
			UseBasicAuthentication: o.UseBasicAuthentication, UseEndpointMTLS: o.UseEndpointMTLS,
			IsMTLSEnabled: o.IsMTLSEnabled, EndpointCertificate: certificateRowOf(o.EndpointCertificate),
			IsAssertionEnabled: o.IsJWTClientAssertionEnabled, Headers: nameRows(o.Headers),
			FormValues: nameRows(o.FormValues),
		}
		for i, v := range o.FormValues {
			if externalauth.IsPublicFormValue(v.Name) {
				row.OAuth.FormValues[i].Value = v.Value.Reveal()
			}
		}
	}
	if row.bytes() > maxRowBytes {
		return nil, errTooLarge
	}
	item, err := attributevalue.MarshalMap(row)
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return item, nil
}

// bytes returns the size of the parts of a row that maxRowBytes limits.
func (r configurationRow) bytes() int {
	n := len(r.URL) + len(r.Sealed) + r.EndpointCertificate.bytes() + nameBytes(r.Headers)
	if o := r.OAuth; o != nil {
		n += len(o.URL) + len(o.ClientID) + o.EndpointCertificate.bytes() + nameBytes(o.Headers) +
			nameBytes(o.FormValues)
	}
	return n
}

func (r *certificateRow) bytes() int {
	if r == nil {
		return 0
	}
	return len(r.PEM) + len(r.NextPEM)
}

func nameBytes(rows []nameValueRow) (n int) {
	for _, r := range rows {
		n += len(r.Name) + len(r.Value) + len("namevalue")
	}
	return n
}

func certificateRowOf(c *externalauth.Certificate) *certificateRow {
	if c == nil {
		return nil
	}
	return &certificateRow{IsPublicCA: c.IsPublicCA, PEM: c.PEM, NextPEM: c.NextPEM, Mode: c.Mode}
}

func nameRows(values []externalauth.NameValue) []nameValueRow {
	var rows []nameValueRow
	for _, v := range values {
		rows = append(rows, nameValueRow{Name: v.Name})
	}
	return rows
}

// unmarshal reads a configuration with masked secrets.
func unmarshal(item dynamo.Item) (externalauth.Configuration, error) {
	var row configurationRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return externalauth.Configuration{}, fmt.Errorf("read configuration: %w", err)
	}
	c := externalauth.Configuration{
		ID: strings.TrimPrefix(row.Part, configurationPrefix), Tenant: row.Tenant, URL: row.URL,
		IsMTLSEnabled: row.IsMTLSEnabled, EndpointCertificate: row.EndpointCertificate.certificate(),
		Headers: namesAndValues(row.Headers), Sealed: row.Sealed, UpdatedBy: row.UpdatedBy, Version: row.Version,
	}
	if o := row.OAuth; o != nil {
		c.OAuth = &externalauth.OAuth{
			URL: o.URL, ClientID: o.ClientID, UseBasicAuthentication: o.UseBasicAuthentication,
			UseEndpointMTLS: o.UseEndpointMTLS, IsMTLSEnabled: o.IsMTLSEnabled,
			EndpointCertificate:         o.EndpointCertificate.certificate(),
			IsJWTClientAssertionEnabled: o.IsAssertionEnabled, Headers: namesAndValues(o.Headers),
			FormValues: namesAndValues(o.FormValues),
		}
		if o.HasSecret {
			c.OAuth.ClientSecret = externalauth.Mask
		}
	}
	var err error
	if c.Noticed, err = noticedTimes(row.Noticed); err != nil {
		return externalauth.Configuration{}, fmt.Errorf("read configuration: %w", err)
	}
	if c.CreatedAt, err = dynamo.ParseTime(row.CreatedAt); err == nil {
		c.UpdatedAt, err = dynamo.ParseTime(row.UpdatedAt)
	}
	return c, err
}

// noticedTexts returns Noticed as it is stored.
func noticedTexts(c externalauth.Configuration) map[string]string {
	if len(c.Noticed) == 0 {
		return nil
	}
	texts := make(map[string]string, len(c.Noticed))
	for thumbprint, at := range c.Noticed {
		texts[thumbprint] = dynamo.FormatTime(at)
	}
	return texts
}

// noticedAttribute returns Noticed as an attribute.
func noticedAttribute(c externalauth.Configuration) (types.AttributeValue, error) {
	return attributevalue.Marshal(noticedTexts(c))
}

func noticedTimes(texts map[string]string) (map[string]time.Time, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	times := make(map[string]time.Time, len(texts))
	for thumbprint, text := range texts {
		at, err := dynamo.ParseTime(text)
		if err != nil {
			return nil, err
		}
		times[thumbprint] = at
	}
	return times, nil
}

// certificate returns the certificate of a row. Without a mode, it is the default one.
func (r *certificateRow) certificate() *externalauth.Certificate {
	if r == nil {
		return nil
	}
	c := &externalauth.Certificate{IsPublicCA: r.IsPublicCA, PEM: r.PEM, NextPEM: r.NextPEM, Mode: r.Mode}
	if c.Mode == "" {
		c.Mode = externalauth.ValidationModes[0]
	}
	return c
}

func namesAndValues(rows []nameValueRow) []externalauth.NameValue {
	var values []externalauth.NameValue
	for _, r := range rows {
		v := externalauth.NameValue{Name: r.Name, Value: externalauth.Mask}
		if r.Value != "" {
			v.Value = externalauth.Secret(r.Value)
		}
		values = append(values, v)
	}
	return values
}
