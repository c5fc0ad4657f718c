package main

// record is a line as a program without a scanner would read it: a struct for the library to fill.
type record struct {
	RequestUUID               *string            `json:"request_uuid"`
	PaymentExternalID         *string            `json:"payment_external_id"`
	TransactionExternalID     *string            `json:"transaction_external_id"`
	Modification              *modification      `json:"modification"`
	Sender                    *entity            `json:"sender"`
	Receiver                  *entity            `json:"receiver"`
	SendingPartner            *entity            `json:"sending_partner"`
	ReceivingPartner          *entity            `json:"receiving_partner"`
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

type entity struct {
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

type modification struct {
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
