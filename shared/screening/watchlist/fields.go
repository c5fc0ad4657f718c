package watchlist

import (
	"strconv"
	"strings"
	"time"
)

// cutDate returns the date of a time in the format of ISO 8601, as far as the source knows it.
func cutDate(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 10 {
		text = text[:10]
	}
	return text
}

// isoDate is cutDate, or "" if the result is not a date: a year, a month or a day.
func isoDate(text string) string {
	date := cutDate(text)
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if _, err := time.Parse(layout, date); err == nil {
			return date
		}
	}
	return ""
}

// addCirca adds the year of a date that is only about right, and the years before and after it.
func addCirca(dates []string, date string) []string {
	year, err := strconv.Atoi(date[:4])
	if err != nil {
		return dates
	}
	return addYears(dates, strconv.Itoa(year-1), strconv.Itoa(year+1))
}

// maxYears bounds the range of years that an entry may give for a birth.
const maxYears = 30

// addYears adds a date for each year of a range.
func addYears(dates []string, from, to string) []string {
	first, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil {
		return dates
	}
	last, err := strconv.Atoi(strings.TrimSpace(to))
	if err != nil || last < first || last-first > maxYears {
		last = first
	}
	for year := first; year <= last; year++ {
		dates = addUnique(dates, strconv.Itoa(year))
	}
	return dates
}

// parseDate reads a date of the remarks of OFAC: "22 Jun 1960", "Jun 1960", "1960".
func parseDate(text string) string {
	text = strings.TrimSpace(text)
	for _, layout := range []struct{ in, out string }{
		{"02 Jan 2006", "2006-01-02"}, {"2 Jan 2006", "2006-01-02"}, {"Jan 2006", "2006-01"}, {"2006", "2006"},
	} {
		if date, err := time.Parse(layout.in, text); err == nil {
			return date.Format(layout.out)
		}
	}
	return ""
}

// Country returns the code of a country, two letters in lower case, or the text in lower case if it is not known.
func Country(text string) string {
	code, _ := ParseCountry(text)
	return code
}

// ParseCountry returns the code of a country, which a text gives as a code of two or three letters (ISO 3166-1) or by a
// name in English. It returns false, and the text in lower case, for any other text.
func ParseCountry(text string) (code string, isKnown bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if code, isName := countryCodes[text]; isName {
		return code, true
	}
	return text, knownCodes[text]
}

// alpha3Codes are the ISO 3166-1 alpha-3 codes of the countries in countryNames, each with its alpha-2 code. Kosovo has
// none; XKX and XKK are in use for it.
const alpha3Codes = `
and:ad are:ae afg:af atg:ag aia:ai alb:al arm:am ant:an ago:ao ata:aq arg:ar asm:as aut:at aus:au abw:aw ala:ax aze:az
bih:ba brb:bb bgd:bd bel:be bfa:bf bgr:bg bhr:bh bdi:bi ben:bj blm:bl bmu:bm brn:bn bol:bo bes:bq bra:br bhs:bs btn:bt
bvt:bv bwa:bw blr:by blz:bz can:ca cck:cc cod:cd caf:cf cog:cg che:ch civ:ci cok:ck chl:cl cmr:cm chn:cn col:co cri:cr
cub:cu cpv:cv cuw:cw cxr:cx cyp:cy cze:cz deu:de dji:dj dnk:dk dma:dm dom:do dza:dz ecu:ec est:ee egy:eg esh:eh eri:er
esp:es eth:et fin:fi fji:fj flk:fk fsm:fm fro:fo fra:fr gab:ga gbr:gb grd:gd geo:ge guf:gf ggy:gg gha:gh gib:gi grl:gl
gmb:gm gin:gn glp:gp gnq:gq grc:gr sgs:gs gtm:gt gum:gu gnb:gw guy:gy hkg:hk hmd:hm hnd:hn hrv:hr hti:ht hun:hu idn:id
irl:ie isr:il imn:im ind:in iot:io irq:iq irn:ir isl:is ita:it jey:je jam:jm jor:jo jpn:jp ken:ke kgz:kg khm:kh kir:ki
com:km kna:kn prk:kp kor:kr kwt:kw cym:ky kaz:kz lao:la lbn:lb lca:lc lie:li lka:lk lbr:lr lso:ls ltu:lt lux:lu lva:lv
lby:ly mar:ma mco:mc mda:md mne:me maf:mf mdg:mg mhl:mh mkd:mk mli:ml mmr:mm mng:mn mac:mo mnp:mp mtq:mq mrt:mr msr:ms
mlt:mt mus:mu mdv:mv mwi:mw mex:mx mys:my moz:mz nam:na ncl:nc ner:ne nfk:nf nga:ng nic:ni nld:nl nor:no npl:np nru:nr
niu:nu nzl:nz omn:om pan:pa per:pe pyf:pf png:pg phl:ph pak:pk pol:pl spm:pm pcn:pn pri:pr pse:ps prt:pt plw:pw pry:py
qat:qa reu:re rou:ro srb:rs rus:ru rwa:rw sau:sa slb:sb syc:sc sdn:sd swe:se sgp:sg shn:sh svn:si sjm:sj svk:sk sle:sl
smr:sm sen:sn som:so sur:sr ssd:ss stp:st slv:sv sxm:sx syr:sy swz:sz tca:tc tcd:td atf:tf tgo:tg tha:th tjk:tj tkl:tk
tls:tl tkm:tm tun:tn ton:to tur:tr tto:tt tuv:tv twn:tw tza:tz ukr:ua uga:ug umi:um usa:us ury:uy uzb:uz vat:va vct:vc
ven:ve vgb:vg vir:vi vnm:vn vut:vu wlf:wf wsm:ws xkx:xk xkk:xk yem:ye myt:yt zaf:za zmb:zm zwe:zw`
