// Package outboundsetup makes the client of functions that call the outside. It is separate from setup, so that only
// those functions are linked with it.
package outboundsetup

import (
	"sluice/shared/externalauth/externalauthdb"
	"sluice/shared/outbound"
	"sluice/shared/outbound/outbounddb"
	"sluice/shared/sealed"
	"sluice/shared/setup"
)

// NewClient returns a client that calls the outside as the configurations of tenants demand. If the list of private
// networks is malformed it ends the process as setup.MustLoad does. The function needs TABLE_EXTERNALAUTH,
// TABLE_OUTBOUND and SECRETS_KEY_ID.
func NewClient(env setup.Env, secrets *sealed.Box) *outbound.Client {
	addresses, err := outbound.ParseAddressPolicy(env.PrivateReceivers)
	env.Check(err)
	return &outbound.Client{
		Configurations: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, secrets), Addresses: addresses,
		Keys: outbounddb.New(env.DynamoDB(), env.OutboundTable), KMS: env.KMS(), Log: env.Log,
	}
}
