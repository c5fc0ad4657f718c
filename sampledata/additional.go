package sampledata

import (
	"strconv"
	"strings"
)

// Programs differ in where they put what they know: some use the fields of the schema, others put most of it into
// additional fields, under names of their own.

// writeAdditional writes the additional fields of a party, or of a line whose program uses the fields of the schema.
func (g *Generator) writeAdditional(name string) {
	w, r := &g.w, &g.r
	w.startMember(name)
	w.openObject(name)
	w.plainMember("payment_category", pick(r, categories))
	if r.chance(50) {
		w.plainMember("channel", pick(r, channels))
	}
	if r.chance(20) {
		w.textMember("booked_by", firstNames.pick(r)+" "+lastNames.pick(r))
	}
	w.closeObject()
}

// writeOwnFields writes the additional fields of a line whose program puts most into them: a few of many.
func (g *Generator) writeOwnFields() {
	w, r := &g.w, &g.r
	w.startMember("additional_fields")
	w.openObject("additional_fields")
	w.plainMember("payment_category", pick(r, categories))
	w.plainMember("channel", pick(r, channels))
	for i := range ownFields {
		f := &ownFields[i]
		if !r.chance(f.percent) {
			continue
		}
		key := f.keys[r.zipf(2)%uint64(len(f.keys))]
		if f.isUUID {
			w.uuidMember(key, random{r.next()})
			continue
		}
		g.text = f.append(g.text[:0], r)
		w.textMember(key, string(g.text))
	}
	w.closeObject()
}

// ownField is one additional field, which programs name in different ways, the most frequent first.
type ownField struct {
	percent uint64
	keys    []string
	isUUID  bool
	append  func(b []byte, r *random) []byte
}

var ownFields = []ownField{
	{percent: 70, keys: []string{"reference", "remittance_information", "end_to_end_id"}, append: appendPhrase},
	{percent: 25, keys: []string{"ip_address", "client_ip", "source_ip"}, append: appendAddress4},
	{percent: 35, keys: []string{"branch", "store_id", "location"}, append: appendBranch},
	{percent: 35, keys: []string{"merchant_name", "counterparty_name", "beneficiary"}, append: appendFullName},
	{percent: 30, keys: []string{"mcc", "merchant_category_code", "sic_code"}, append: appendCategoryCode},
	{percent: 40, keys: []string{"order_id", "session_id", "correlation_id"}, isUUID: true},
	{percent: 20, keys: []string{"invoice_number", "contract_id", "order_number"}, append: appendNumberedID},
	{percent: 15, keys: []string{"terminal_id", "device_id", "pos_id"}, append: appendNumberedID},
	{percent: 10, keys: []string{"purpose_code", "purpose", "local_instrument"}, append: appendPurposeCode},
	{percent: 10, keys: []string{"segment", "customer_type", "risk_class"}, append: appendSegment},
	{percent: 8, keys: []string{"recurring", "cross_border", "instant"}, append: appendBool},
	{percent: 8, keys: []string{"booked_by", "operator", "relationship_manager"}, append: appendFullName},
	{percent: 30, keys: []string{"note", "comment", "narrative"}, append: appendPhrase},
}

// appendPhrase appends some words of free text about a payment.
func appendPhrase(b []byte, r *random) []byte {
	foreign := r.chance(25)
	for i := range 2 + r.below(6) {
		if i > 0 {
			b = append(b, ' ')
		}
		switch {
		case foreign && r.chance(40):
			b = append(b, pick(r, foreignWords)...)
		case r.chance(5):
			b = strconv.AppendUint(b, r.below(1e5), 10)
		case r.chance(4):
			b = append(b, pick(r, periods)...)
		default:
			b = append(b, phraseWords[r.zipf(phraseRanks)%uint64(len(phraseWords))]...)
		}
	}
	return b
}

// appendAddress4 appends an IPv4 address.
func appendAddress4(b []byte, r *random) []byte {
	for i := range 4 {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendUint(b, 1+r.below(254), 10)
	}
	return b
}

// appendBranch appends the name of a branch: a city and a number.
func appendBranch(b []byte, r *random) []byte {
	b = append(append(b, pick(r, branchCities)...), '-')
	return append(b, strconv.FormatUint(1000+r.below(400), 10)[1:]...)
}

// appendCategoryCode appends a merchant category code.
func appendCategoryCode(b []byte, r *random) []byte {
	if r.chance(50) {
		return append(b, pick(r, categoryCodes)...)
	}
	return strconv.AppendUint(b, 3000+r.below(6000), 10)
}

// appendNumberedID appends a prefix and a number.
func appendNumberedID(b []byte, r *random) []byte {
	b = append(append(b, pick(r, idPrefixes)...), '-')
	return strconv.AppendUint(b, 1e5+r.below(9e8), 10)
}

func appendPurposeCode(b []byte, r *random) []byte { return append(b, pick(r, purposeCodes)...) }

func appendSegment(b []byte, r *random) []byte { return append(b, pick(r, segments)...) }

func appendBool(b []byte, r *random) []byte { return strconv.AppendBool(b, r.chance(50)) }

// phraseRanks is the number of ranks of phraseWords, in powers of two.
const phraseRanks = 8

var (
	// phraseWords are words in free text about payments, those of everyday payments first.
	phraseWords = strings.Fields(`payment invoice order services for transfer monthly salary rent refund deposit fee
		subscription credit debit account bill purchase loan tax insurance interest final balance goods wages bonus
		dividend donation membership instalment expenses adjustment settlement advance rendered consulting delivery
		travel hotel ticket tickets fuel parking groceries restaurant electricity water gas internet phone mobile
		energy heating maintenance repair cleaning rental lease mortgage repayment pension benefit allowance tuition
		school university course training books medical dental pharmacy hospital care childcare legal notary audit
		accounting advisory commission royalties licence software hosting cloud support marketing advertising campaign
		printing office supplies furniture equipment machine spare parts materials construction renovation garden
		kitchen car vehicle leasing toll customs duty import export shipping freight storage warehouse packaging
		return correction reversal chargeback compensation claim penalty late overdue reminder partial full first
		second third last annual yearly quarterly weekly daily quarter year month week January February March April
		May June July August September October November December online shop store market gift voucher card cash
		withdrawal savings investment fund shares bonds capital family support private personal own internal
		intercompany company project contract agreement reference number customer client supplier vendor partner
		according per with from to and of the your our thank you agreed as on by at in ref no nr inv order/invoice Q1
		Q2 Q3 Q4 2023 2024 2025 2026`)
	periods = strings.Fields(`Q1 Q2 Q3 Q4 01/2024 02/2025 03/2026 H1 H2 2024 2025 2026 KW17 W32 Jan Feb Mar Apr Jun
		Jul Aug Sep Oct Nov Dec`)
	// foreignWords have letters that are not ASCII.
	foreignWords = strings.Fields(`Überweisung für Miete März Gebühr Rückzahlung Büro Möbel Zürich München Köln señor
		año mañana España Málaga facturación préstamo élève février août décembre régulière café crème société
		générale køb løn måned år København overføring betalning för mars lön hyra avgift płatność wypłata czynsz
		opłata Kraków Łódź platba nájem faktúra číslo účet fizetés bérlet számla plată chirie factură ödeme kira ücret
		İstanbul πληρωμή ενοίκιο μισθός τιμολόγιο оплата счёт аренда зарплата услуги возврат перевод 支払い 請求書 家賃 給料 付款
		发票 工资 租金 دفع فاتورة راتب إيجار भुगतान वेतन किराया`)
	branchCities = strings.Fields(`AMS BER PAR LON NYC MAD MIL ROM VIE ZRH GVA BRU LUX DUB LIS OSL STO CPH HEL WAW PRG
		BUD ATH IST DXB SIN HKG TYO SYD TOR CHI FRA MUC HAM RTM`)
	categoryCodes = strings.Fields(`5411 5812 5814 5541 5311 5732 5999 4111 4121 4511 4814 4899 4900 5045 5065 5200
		5211 5251 5310 5331 5399 5651 5661 5691 5712 5912 5941 5942 5945 5977 6011 6012 6051 6300 7011 7230 7372 7995
		8011 8062 8099 8220 8299 8398 8999 9311 9399`)
	idPrefixes   = strings.Fields(`INV ORD REF CUST TERM POS CTR RE PO TX`)
	purposeCodes = strings.Fields(`SALA SUPP RENT LOAN TAXS PENS GDDS SCVE INSU TRAD INTC CASH DIVI BONU OTHR`)
	segments     = strings.Fields(`retail private corporate sme institutional premium standard low medium high`)
)
