package outboundtest_test

import (
	"testing"

	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
)

func TestKeys(t *testing.T) {
	outboundtest.Conform(t, func(*testing.T) outbound.KeyStore { return outboundtest.NewKeys() })
}
