package main

import (
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/shared/transaction"
	"sluice/shared/transaction/schema"
)

// The checks of a record: the rules of docs/contract/transaction-lines.md as far as a decoded struct can show them. Unknown
// keys, duplicate keys and the place of a fault are lost by then, which only makes these rows faster.

var (
	countries  = setOf(schema.Countries())
	currencies = setOf(schema.Currencies())
)

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

func (r *record) valid() bool {
	m := r.Modification
	if m == nil || r.RequestUUID == nil || !isUUID(*r.RequestUUID) || !isID(r.PaymentExternalID) || !isID(r.TransactionExternalID) {
		return false
	}
	known := r.Sender != nil && r.Sender.ByExternalID != nil || r.Receiver != nil && r.Receiver.ByExternalID != nil
	return known && r.Sender.valid() && r.Receiver.valid() &&
		(r.SendingPartner == nil || r.SendingPartner.valid()) && (r.ReceivingPartner == nil || r.ReceivingPartner.valid()) &&
		m.valid() && r.textsValid() &&
		isOptional(r.IPAddress, isIP) && isOptional(r.SenderIPAddress, isIP) && isOptional(r.ReceiverIPAddress, isIP) &&
		r.SenderPaymentInfo.valid() && r.ReceiverPaymentInfo.valid() && r.Billing.valid() && r.Shipping.valid()
}

func (r *record) textsValid() bool {
	return isCountry(r.PaymentSourceCountry) && isCountry(r.PaymentTargetCountry) && isCountry(r.IPCountryCode) &&
		isOneOf(r.PaymentType, "payin", "payout", "ledger") && isOneOf(r.Response3DSecure, "Y", "N", "U", "A", "E") &&
		isLong(r.BusinessSettlementAccount, 0, 34) && isLong(r.ResponseCVC2, 1, 1) && isLong(r.ResponseAVS, 1, 1)
}

func (m *modification) valid() bool {
	return isID(m.ExternalID) && m.Amount != nil && m.Currency != nil && m.CreatedAt != nil && m.Type != nil &&
		isOneOf(m.Type, "authorised", "capture", "settlement", "cancel", "failure", "refund", "chargeback") &&
		isCurrency(m.Currency) && isCurrency(m.MonitoringCurrency) && isCurrency(m.OriginalCurrency) &&
		isDateTime(m.CreatedAt, true) && isDateTime(m.SettledAt, false)
}

func (e *entity) valid() bool {
	switch {
	case e == nil:
		return false
	case e.ByExternalID != nil:
		return e.ExternalEntityType == nil && e.Unknown == nil && isID(e.ByExternalID)
	default:
		return e.ExternalEntityType != nil && *e.ExternalEntityType == "unknown" && e.Unknown.valid()
	}
}

func (u *unknown) valid() bool {
	if u == nil || !isID(u.ExternalID) || u.PeerGroupExternalID != nil && !isID(u.PeerGroupExternalID) || u.ByExternalID != nil {
		return false
	}
	return isOneOf(u.Label, "sender", "receiver", "merchant", "consumer", "merchant_profile") &&
		!slices.ContainsFunc(u.Addresses, func(a *address) bool { return !a.valid() }) &&
		!slices.ContainsFunc(u.PaymentOptions, func(p *paymentOption) bool { return !p.valid() })
}

func (p *paymentOption) valid() bool {
	return p == nil || isLong(p.BankAccountNumber, 0, 34) && isOptional(p.BankAccountBIC, isBIC) && isCountry(p.BankCountryCode) &&
		(p.CardNumber == nil || *p.CardNumber >= 0 && *p.CardNumber <= 9999)
}

func (a *address) valid() bool { return a == nil || isCountry(a.CountryCode) }

func isID(s *string) bool { return s != nil && len(*s) >= 1 && len(*s) <= transaction.MaxIDBytes }

func isOptional(s *string, rule func(string) bool) bool { return s == nil || rule(*s) }

func isCountry(s *string) bool { return s == nil || countries[*s] }

func isCurrency(s *string) bool { return s == nil || currencies[*s] }

func isOneOf(s *string, words ...string) bool { return s == nil || slices.Contains(words, *s) }

func isLong(s *string, min, max int) bool {
	if s == nil {
		return true
	}
	n := utf8.RuneCountInString(*s)
	return min <= n && n <= max
}

func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i != 8 && i != 13 && i != 18 && i != 23 && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

func isIP(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Zone() == "" && len(s) >= 7 && len(s) <= 50
}

func isBIC(s string) bool {
	return (len(s) == 8 || len(s) == 11) && strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) < 0
}

func isDateTime(s *string, window bool) bool {
	if s == nil {
		return true
	}
	at, err := time.Parse(time.RFC3339Nano, *s)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999", *s)
	}
	return err == nil && (!window || !at.After(rules.ReceivedAt.Add(rules.MaxFuture)))
}
