package table

import (
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// Record is a line as a program without a scanner would read it: a struct for a JSON library to fill.
type Record struct {
	RequestUUID               *string            `json:"request_uuid"`
	PaymentExternalID         *string            `json:"payment_external_id"`
	TransactionExternalID     *string            `json:"transaction_external_id"`
	Modification              *Modification      `json:"modification"`
	Sender                    *Entity            `json:"sender"`
	Receiver                  *Entity            `json:"receiver"`
	SendingPartner            *Entity            `json:"sending_partner"`
	ReceivingPartner          *Entity            `json:"receiving_partner"`
	PaymentSourceCountry      *string            `json:"payment_source_country"`
	PaymentTargetCountry      *string            `json:"payment_target_country"`
	PaymentMethod             *string            `json:"payment_method"`
	PaymentType               *string            `json:"payment_type"`
	AdditionalFields          map[string]*string `json:"additional_fields"`
	BusinessSettlementAccount *string            `json:"business_settlement_account"`
	PaymentMethodVariant      *string            `json:"payment_method_variant"`
	Description               *string            `json:"description"`
	TransactionFee            *float64           `json:"transaction_fee"`
	IndividualInteractionType *string            `json:"individual_interaction_type"`
	GeoLatitude               *float64           `json:"geo_latitude"`
	GeoLongitude              *float64           `json:"geo_longitude"`
	UserAgent                 *string            `json:"user_agent"`
	IPAddress                 *string            `json:"ip_address"`
	IPCountryCode             *string            `json:"ip_country_code"`
	SenderIPAddress           *string            `json:"sender_ip_address"`
	ReceiverIPAddress         *string            `json:"receiver_ip_address"`
	DeviceFingerPrint         *string            `json:"device_finger_print"`
	URLRedirectSuccess        *string            `json:"url_redirect_success"`
	URLRedirectFailure        *string            `json:"url_redirect_failure"`
	URLRedirectError          *string            `json:"url_redirect_error"`
	IssuerAuthorisationCode   *string            `json:"issuer_authorisation_code"`
	IssuerRawResponse         *string            `json:"issuer_raw_response"`
	Response3DSecure          *string            `json:"response_3d_secure"`
	ResponseCVC2              *string            `json:"response_cvc2"`
	ResponseAVS               *string            `json:"response_avs"`
	SenderPaymentInfo         *paymentOption     `json:"sender_payment_info"`
	ReceiverPaymentInfo       *paymentOption     `json:"receiver_payment_info"`
	Billing                   *address           `json:"billing"`
	Shipping                  *address           `json:"shipping"`
}

// Entity is one side of a transaction, or a partner.
type Entity struct {
	ByExternalID       *string  `json:"by_external_id"`
	ExternalEntityType *string  `json:"external_entity_type"`
	Unknown            *unknown `json:"unknown"`
}

type unknown struct {
	ExternalID          *string            `json:"external_id"`
	FullName            *string            `json:"full_name"`
	RiskAssessment      *string            `json:"risk_assessment"`
	Label               *string            `json:"label"`
	Email               *string            `json:"email"`
	PhoneNumber         *string            `json:"phone_number"`
	AdditionalFields    map[string]*string `json:"additional_fields"`
	PeerGroupExternalID *string            `json:"peer_group_external_id"`
	Addresses           []*address         `json:"addresses"`
	PaymentOptions      []*paymentOption   `json:"payment_options"`
	EntityGroups        []*string          `json:"entity_groups_external"`
	ByExternalID        *string            `json:"by_external_id"`
}

// Modification is what the line does to its transaction.
type Modification struct {
	ExternalID         *string  `json:"external_id"`
	Type               *string  `json:"type"`
	Amount             *float64 `json:"amount"`
	MonitoringAmount   *float64 `json:"monitoring_amount"`
	OriginalAmount     *float64 `json:"original_amount"`
	Currency           *string  `json:"currency"`
	MonitoringCurrency *string  `json:"monitoring_currency"`
	OriginalCurrency   *string  `json:"original_currency"`
	CreatedAt          *string  `json:"created_at"`
	Reason             *string  `json:"reason"`
	SettledAt          *string  `json:"settled_at"`
}

type paymentOption struct {
	ID                *int32  `json:"id"`
	AccountNumber     *string `json:"account_number"`
	SortCode          *string `json:"sort_code"`
	BankAccountNumber *string `json:"bank_account_number"`
	BankAccountBIC    *string `json:"bank_account_bic"`
	BankName          *string `json:"bank_name"`
	BankCountryCode   *string `json:"bank_country_code"`
	CardToken         *string `json:"card_token"`
	CardBIN           *string `json:"card_bin"`
	CardNumber        *int    `json:"card_number"`
}

type address struct {
	ID           *int32  `json:"id"`
	Label        *string `json:"label"`
	FirstName    *string `json:"first_name"`
	LastName     *string `json:"last_name"`
	NamePrefix   *string `json:"name_prefix"`
	Address      *string `json:"address"`
	PostalCode   *string `json:"postal_code"`
	City         *string `json:"city"`
	State        *string `json:"state"`
	CountryCode  *string `json:"country_code"`
	CompanyName  *string `json:"company_name"`
	CompanyTaxID *string `json:"company_tax_id"`
}

var (
	countries  = newSet(schema.Countries())
	currencies = newSet(schema.Currencies())
)

func newSet(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// Valid applies the rules of docs/contract/transaction-lines.md as far as a decoded struct can show them. Unknown keys,
// duplicate keys and the position of an error are lost by then, which only makes the rows of the libraries faster.
func (r *Record) Valid() bool {
	m := r.Modification
	if m == nil || r.RequestUUID == nil || !isUUID(*r.RequestUUID) || !isID(r.PaymentExternalID) ||
		!isID(r.TransactionExternalID) {
		return false
	}
	known := r.Sender != nil && r.Sender.ByExternalID != nil || r.Receiver != nil && r.Receiver.ByExternalID != nil
	return known && r.Sender.valid() && r.Receiver.valid() &&
		(r.SendingPartner == nil || r.SendingPartner.valid()) &&
		(r.ReceivingPartner == nil || r.ReceivingPartner.valid()) &&
		m.valid() && r.stringsValid() &&
		isOptional(r.IPAddress, isIP) && isOptional(r.SenderIPAddress, isIP) && isOptional(r.ReceiverIPAddress, isIP) &&
		r.SenderPaymentInfo.valid() && r.ReceiverPaymentInfo.valid() && r.Billing.valid() && r.Shipping.valid()
}

func (r *Record) stringsValid() bool {
	return isCountry(r.PaymentSourceCountry) && isCountry(r.PaymentTargetCountry) && isCountry(r.IPCountryCode) &&
		isOneOf(r.PaymentType, "payin", "payout", "ledger") && isOneOf(r.Response3DSecure, "Y", "N", "U", "A", "E") &&
		hasLength(r.BusinessSettlementAccount, 0, 34) &&
		hasLength(r.ResponseCVC2, 1, 1) && hasLength(r.ResponseAVS, 1, 1)
}

func (m *Modification) valid() bool {
	return isID(m.ExternalID) && m.Amount != nil && m.Currency != nil && m.CreatedAt != nil && m.Type != nil &&
		isOneOf(m.Type, "authorised", "capture", "settlement", "cancel", "failure", "refund", "chargeback") &&
		isCurrency(m.Currency) && isCurrency(m.MonitoringCurrency) && isCurrency(m.OriginalCurrency) &&
		isDateTime(m.CreatedAt, true) && isDateTime(m.SettledAt, false)
}

func (e *Entity) valid() bool {
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
	if u == nil || !isID(u.ExternalID) || u.PeerGroupExternalID != nil && !isID(u.PeerGroupExternalID) ||
		u.ByExternalID != nil {
		return false
	}
	return isOneOf(u.Label, "sender", "receiver", "merchant", "consumer", "merchant_profile") &&
		!slices.ContainsFunc(u.Addresses, func(a *address) bool { return !a.valid() }) &&
		!slices.ContainsFunc(u.PaymentOptions, func(p *paymentOption) bool { return !p.valid() })
}

func (p *paymentOption) valid() bool {
	return p == nil || hasLength(p.BankAccountNumber, 0, 34) && isOptional(p.BankAccountBIC, isBIC) &&
		isCountry(p.BankCountryCode) &&
		(p.CardNumber == nil || *p.CardNumber >= 0 && *p.CardNumber <= 9999)
}

func (a *address) valid() bool { return a == nil || isCountry(a.CountryCode) }

func isID(s *string) bool { return s != nil && len(*s) >= 1 && len(*s) <= transaction.MaxIDBytes }

func isOptional(s *string, rule func(string) bool) bool { return s == nil || rule(*s) }

func isCountry(s *string) bool { return s == nil || countries[*s] }

func isCurrency(s *string) bool { return s == nil || currencies[*s] }

func isOneOf(s *string, words ...string) bool { return s == nil || slices.Contains(words, *s) }

func hasLength(s *string, min, max int) bool {
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

func isDateTime(s *string, checkWindow bool) bool {
	if s == nil {
		return true
	}
	t, err := time.Parse(time.RFC3339Nano, *s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05.999999999", *s)
	}
	return err == nil && (!checkWindow || !t.After(Rules.ReceivedAt.Add(Rules.MaxFuture)))
}
