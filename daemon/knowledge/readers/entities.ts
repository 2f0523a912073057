/** Character references of HTML and XML: the named ones people write, and numbers. Entities that a document defines itself are never expanded. */
import { windows1252Mark } from './encoding/windows-1252.ts'

const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const GREEK =
  'Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho _ Sigma Tau Upsilon Phi Chi Psi Omega _ _ _ _ _ _ _ alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega'
const OTHERS =
  'amp & lt < gt > quot " apos \' Tab \t NewLine \n excl ! num # dollar $ percnt % lpar ( rpar ) ast * plus + comma , period . sol / colon : semi ; equals = quest ? commat @ lsqb [ lbrack [ bsol \\ rsqb ] rbrack ] Hat ^ lowbar _ grave ` lcub { lbrace { verbar | vert | rcub } rbrace } ' +
  'OElig Œ oelig œ Scaron Š scaron š Zcaron Ž zcaron ž Ccaron Č ccaron č Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Lstrok Ł lstrok ł inodot ı ' +
  'ensp \u2002 emsp \u2003 thinsp \u2009 hairsp \u200a zwnj \u200c zwj \u200d lrm \u200e rlm \u200f hyphen ‐ dash ‐ ndash – mdash — horbar ― lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • bullet • hellip … mldr … permil ‰ pertenk ‱ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € ' +
  'image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ numero № larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦ check ✓ cross ✗ star ☆ starf ★ thetasym ϑ upsih ϒ piv ϖ'

const NAMED = new Map<string, string>([
  ...LATIN.split(' ').map((name, index): [string, string] => [name, String.fromCharCode(160 + index)]),
  ...GREEK.split(' ').map((name, index): [string, string] => [name, String.fromCharCode(0x391 + index)]),
  ...pairs(OTHERS.split(/ (?=\S)|(?<=\S) /)),
])

function pairs(list: string[]): [string, string][] {
  return list.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, list[index + 1] ?? '']] : []))
}

/** Numbers from 128 to 159 mean what Windows-1252 has there, as browsers read them. */
function numbered(point: number): string {
  if (point >= 0x80 && point <= 0x9f) return windows1252Mark(String.fromCharCode(point))
  return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : '\ufffd'
}

/** Text with its references replaced; one that is unknown stays as it is written. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,7})|([A-Za-z][A-Za-z0-9]{1,30}));?/g, (whole, decimal, hexadecimal, name) => {
    if (decimal) return numbered(Number(decimal))
    if (hexadecimal) return numbered(Number.parseInt(hexadecimal, 16))
    // Without its semicolon a name is one only where browsers take it so, in text that is no parameter of an address.
    return (whole.endsWith(';') ? NAMED.get(name) : LATIN_WITHOUT_END.has(name) ? NAMED.get(name) : undefined) ?? whole
  })
}

const LATIN_WITHOUT_END = new Set(['amp', 'lt', 'gt', 'quot', 'nbsp', 'copy', 'reg'])
