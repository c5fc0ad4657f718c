// Package outboundsetup makes the parts of functions that call the outside. It is separate from setup, so that only
// those functions are linked with it.
package outboundsetup

import (
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"sluice/functions/setup"
	"sluice/shared/connect/delivery"
	"sluice/shared/connect/externalauth/externalauthdb"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outbounddb"
	"sluice/shared/kit/sealed"
)

// NewClient returns a client that calls the outside as the configurations of tenants demand. If the list of private
// networks is malformed it ends the process as setup.MustLoad does. The function needs TABLE_EXTERNALAUTH,
// TABLE_OUTBOUND and SECRETS_KEY_ID.
func NewClient(env setup.Env, secrets *sealed.Box) *outbound.Client {
	addresses, err := outbound.ParseAddressPolicy(env.PrivateReceivers)
	env.Check(err)
	return &outbound.Client{
		Configurations: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, secrets), Addresses: addresses,
		Keys: outbounddb.New(env.DynamoDB(), env.OutboundTable), KMS: kms.NewFromConfig(env.AWS), Log: env.Log,
	}
}

// NewDeliveryMachine returns the state machine of deliveries to webhooks.
func NewDeliveryMachine(env setup.Env) *delivery.Machine {
	return delivery.NewMachine(sfn.NewFromConfig(env.AWS), env.DeliveryMachineARN)
}
