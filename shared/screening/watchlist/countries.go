package watchlist

import "strings"

// countryNames are the codes of countries, each with the names that sources use, separated by |.
const countryNames = `
ad: andorra
ae: uae|united arab emirates
af: afghanistan
ag: antigua & barbuda|antigua and barbuda
ai: anguilla
al: albania
am: armenia
an: netherlands antilles
ao: angola
aq: antarctica
ar: argentina
as: samoa (american)
at: austria
au: australia
aw: aruba
ax: åland islands
az: azerbaijan
ba: bosnia & herzegovina|bosnia and herzegovina
bb: barbados
bd: bangladesh
be: belgium
bf: burkina faso
bg: bulgaria
bh: bahrain
bi: burundi
bj: benin
bl: st barthelemy
bm: bermuda
bn: brunei
bo: bolivia
bq: caribbean nl
br: brazil
bs: bahamas|bahamas, the
bt: bhutan
bv: bouvet island
bw: botswana
by: belarus
bz: belize
ca: canada
cc: cocos (keeling) islands
cd: congo (dem. rep.)|congo, democratic republic of the|democratic republic of the congo
cf: central african rep.
cg: congo (rep.)|congo, republic of the|republic of the congo
ch: switzerland
ci: cote d ivoire|cote d'ivoire|côte d'ivoire|côte d’ivoire|ivory coast
ck: cook islands
cl: chile
cm: cameroon
cn: china|people's republic of china
co: colombia
cr: costa rica
cu: cuba
cv: cabo verde|cape verde
cw: curacao|curaçao
cx: christmas island
cy: cyprus
cz: czech republic
de: germany
dj: djibouti
dk: denmark
dm: dominica
do: dominican republic
dz: algeria
ec: ecuador
ee: estonia
eg: egypt
eh: western sahara
er: eritrea
es: spain
et: ethiopia
fi: finland
fj: fiji
fk: falkland islands
fm: micronesia
fo: faroe islands
fr: france
ga: gabon
gb: britain (uk)|england|great britain|uk|united kingdom|united kingdom of great britain and northern ireland
gd: grenada
ge: georgia
gf: french guiana
gg: guernsey
gh: ghana
gi: gibraltar
gl: greenland
gm: gambia|gambia, the|the gambia
gn: guinea
gp: guadeloupe
gq: equatorial guinea
gr: greece
gs: south georgia & the south sandwich islands
gt: guatemala
gu: guam
gw: guinea-bissau
gy: guyana
hk: hong kong
hm: heard island & mcdonald islands
hn: honduras
hr: croatia
ht: haiti
hu: hungary
id: indonesia
ie: ireland
il: israel
im: isle of man
in: india
io: british indian ocean territory
iq: iraq
ir: iran|iran (islamic republic of)|islamic republic of iran
is: iceland
it: italy
je: jersey
jm: jamaica
jo: jordan
jp: japan
ke: kenya
kg: kyrgyzstan
kh: cambodia
ki: kiribati
km: comoros
kn: saint kitts and nevis|st kitts & nevis
kp: democratic people's republic of korea|democratic peoples republic of korea|dprk|korea (north)
kp: korea, north|north korea
kr: korea (south)|korea, south|republic of korea|south korea
kw: kuwait
ky: cayman islands
kz: kazakhstan
la: laos
lb: lebanon
lc: st lucia
li: liechtenstein
lk: sri lanka
lr: liberia
ls: lesotho
lt: lithuania
lu: luxembourg
lv: latvia
ly: libya|libyan arab jamahiriya
ma: morocco
mc: monaco
md: moldova|republic of moldova
me: montenegro
mf: st martin (french)
mg: madagascar
mh: marshall islands
mk: macedonia|north macedonia
ml: mali
mm: burma|myanmar|myanmar (burma)
mn: mongolia
mo: macau
mp: northern mariana islands
mq: martinique
mr: mauritania
ms: montserrat
mt: malta
mu: mauritius
mv: maldives
mw: malawi
mx: mexico
my: malaysia
mz: mozambique
na: namibia
nc: new caledonia
ne: niger
nf: norfolk island
ng: nigeria
ni: nicaragua
nl: netherlands|the netherlands
no: norway
np: nepal
nr: nauru
nu: niue
nz: new zealand
om: oman
pa: panama
pe: peru
pf: french polynesia
pg: papua new guinea
ph: philippines|republic of the philippines
pk: pakistan
pl: poland
pm: st pierre & miquelon
pn: pitcairn
pr: puerto rico
ps: gaza|palestine|palestinian|region: gaza|state of palestine|west bank
pt: portugal
pw: palau
py: paraguay
qa: qatar
re: reunion|réunion
ro: romania
rs: serbia|serbia and montenegro|yugoslavia
ru: russia|russian federation
rw: rwanda
sa: kingdom of saudi arabia|saudi arabia
sb: solomon islands
sc: seychelles
sd: sudan
se: sweden
sg: singapore
sh: st helena
si: slovenia
sj: svalbard & jan mayen
sk: slovakia
sl: sierra leone
sm: san marino
sn: senegal
so: somali republic|somalia
sr: suriname
ss: south sudan
st: sao tome & principe|sao tome and principe
sv: el salvador
sx: st maarten (dutch)
sy: syria|syrian arab republic
sz: eswatini (swaziland)|swaziland
tc: turks & caicos is
td: chad
tf: french s. terr.
tg: togo
th: thailand
tj: tajikistan
tk: tokelau
tl: east timor|timor-leste
tm: turkmenistan
tn: tunisia
to: tonga
tr: turkey|turkiye|türkiye
tt: trinidad & tobago|trinidad and tobago
tv: tuvalu
tw: taiwan
tz: tanzania|united republic of tanzania
ua: crimea|region: crimea|ukraine
ug: uganda
um: us minor outlying islands
us: u.s.a.|united states|united states of america|usa
uy: uruguay
uz: uzbekistan
va: holy see|vatican city
vc: saint vincent and the grenadines|st vincent|st. vincent and the grenadines
ve: venezuela
vg: british virgin islands|virgin islands (uk)|virgin islands, british
vi: virgin islands (us)
vn: viet nam|vietnam
vu: vanuatu
wf: wallis & futuna
ws: samoa|samoa (western)
xk: kosovo
ye: yemen
yt: mayotte
za: south africa
zm: zambia
zw: zimbabwe`

// countryCodes are the codes of two letters by names and by codes of three letters.
var countryCodes = func() map[string]string {
	codes := map[string]string{}
	for line := range strings.Lines(countryNames) {
		code, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for _, name := range strings.Split(names, "|") {
			if name != "" {
				codes[name] = code
			}
		}
	}
	for _, pair := range strings.Fields(alpha3Codes) {
		alpha3, code, _ := strings.Cut(pair, ":")
		codes[alpha3] = code
	}
	return codes
}()

// knownCodes are the codes of countryNames.
var knownCodes = func() map[string]bool {
	codes := map[string]bool{}
	for line := range strings.Lines(countryNames) {
		if code, _, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			codes[code] = true
		}
	}
	return codes
}()
