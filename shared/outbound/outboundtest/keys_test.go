package outboundtest_test

import (
	"testing"

	"sluice/shared/outbound"
	"sluice/shared/outbound/outboundtest"
)

func TestKeys(t *testing.T) {
	outboundtest.Conform(t, func(*testing.T) outbound.KeyStore { return outboundtest.NewKeys() })
}
