/** Phrases of people who ask about their own business, with words that the rest of the parser knows. */

/** The start of questions for amounts: verbs after it are about money. */
const ASKS_FOR_AMOUNT = String.raw`(?<=\b(?:how much|what (?:do|did|have|has|does))\b.*)`

const PHRASES: readonly (readonly [phrase: RegExp, replacement: string])[] = [
  // Verbs that bring money. "How much did we take in May?" has no "take in".
  [
    new RegExp(
      String.raw`(?<=\bhow much (?:more |less |money )?(?:did|do|have|has) (?!it\b)[\p{L} ]{1,30} )tak(?:e|en)` +
        String.raw`(?= (?:in|on|from|during|with|at|per)\b|\W*$)`,
      'giu',
    ),
    'collect',
  ],
  [new RegExp(String.raw`${ASKS_FOR_AMOUNT}\b(?:brings?|brought|takes?|took|taken|pulls?|pulled|comes?|came) in\b`, 'gi'), 'earn'],
  [/(?<=\b(?:how much|what (?:do|did|have))\b.*\b(?:we|i|they|he|she)\b.*)\bma(?:k|d)e\b/gi, 'earn'],
  [/^what (?=(?:do|did|have) (?:we|i|they) (?:earn|spend|pay|charge|invoice|bill|collect)\b)/gi, 'How much '],
  [/(?<=\bwho )makes?(?= (?:more|less|the (?:most|least))\b)/gi, 'earns'],
  [/\b(?:takings|proceeds)\b/gi, 'revenue'],
  [/\bwhich of us\b/gi, 'who of us'],
  [/(?<=\b(?:bill|invoice|quote)s?\b.*)\b(?:write|wrote|written)\b/gi, 'issue'],
  [/\bearn(?:s|ed)? us\b/gi, 'brought us'],
  [/\b(?:keep|kept|withh[eo]ld) (?=(?:the |their |his |her )?deposits?\b)/gi, 'not refund '],
  // Verbs that are also names of tables: "did we invoice more" compares money.
  [
    /(?<=\b(?:did|do|have) (?:we|i) )(invoiced?|billed?|charged?|quoted?|sell|sold|collect(?:ed)?) (more|less|the most|the least)\b/gi,
    '$1 $2 money',
  ],
  [/\b(?:led|leads|leading) to (?:an? )?/gi, 'had a '],
  [/\b(?:have|has|had|are|is|were|was)? ?(?:fallen|dropped|gone|running|run|sunk) (?=(?:below|under|over|above)\b)/gi, 'are '],
  [/\b(re-?order) (?:levels?|points?|thresholds?|marks?)\b/gi, '$1'],
  [/\b(?:an?|per|each|every) hour\b/gi, 'hourly'],
  // A title is no name: every dentist is "Dr.".
  [/\b(?:Dr|Mr|Mrs|Ms|Miss|Prof)\b\.? (?=\p{Lu})/gu, ''],
  // "How many days does it take until …", "… pass between …".
  [/(?<=\bhow (?:long|many days)\b.*)\b(?:until|till|pass(?:es|ed)?|elapse[sd]?|go(?:es)? by|went by)\b/gi, ''],
  // "Which rentals came back late", "who brought their violin back too late".
  [
    /\b(?:c[ao]mes?|br(?:ings?|ought)|g[ai]ven?)\b((?: (?!back)\w+){0,4}) back (?=(?:too )?(?:late|early|[oi]n time|after|before)\b)/gi,
    'returned$1 ',
  ],
  // "When did we last send Acme an invoice?" asks for the date of the invoice.
  [/(?<=\bwhen (?:did|have) (?:we|i) (?:last|first) )(?:sen[dt]|issued?|write|written)(?= .*\b(?:invoice|bill|quote|order)s?\b)/gi, ''],
  // "When was the last time we saw Bella?"
  [/\bwhen (?:was|is) the (last|first) time(?: that)?\b/gi, 'when did $1'],
  [/\b(?:priciest|dearest|costliest|most valuable)\b/gi, 'most expensive'],
  [/\bmost generous(?= \w)/gi, 'biggest'],
  [/\b(?:what|which) (?:is|was|are|were) (?:our|the|my) best[- ]selling (\w+)/gi, 'which $1 sold the most'],
  // Several scores of one thing are averaged.
  [/\b(highest|lowest|best|worst) (rating|grade|score|mark)s\b/gi, '$1 average $2'],
  // Rents and salaries are monthly; "monthly revenue" asks for groups.
  [
    /(?<=\b(?:total|average|combined|overall|highest|lowest|all) )monthly (?=(?:rent|fee|salary|salarie|wage|premium|subscription)s?\b)/gi,
    '',
  ],
  [/,? ?(?:\((?:incl(?:\.|uding)?|with) VAT\)|(?:incl(?:\.|uding)?|with) VAT|VAT included)(?=\W|$)/gi, ' gross'],
  // "Which client raises the most tickets?" counts tickets.
  [
    /\b(?:raise[sd]?|brings?|brought|sen[dt]s?|g[ai]ves?|gets?|got|ma[kd]es?)(?: us| me)? the (most|fewest) (?!money|sales)(?=[\w-]+s\b)/gi,
    'has the $1 ',
  ],
  // "Our best customer by turnover".
  [
    new RegExp(
      String.raw`\b(?:who|which|what)(?:['’]s| is| was) (?:our|the|my) (?:best|biggest|largest|top) (\w+)(.*?)` +
        String.raw` (?:by|going by|measured by) (?:turnover|revenue|sales|money(?: spent)?)\b`,
      'gi',
    ),
    'which $1 spent the most money$2',
  ],
  [/\brenew(?:s|ed|ing)? (?:by (?:itself|themselves)|on (?:its|their) own|automatically)\b/gi, 'auto renew'],
  [/\bvery (?=first|last|best|worst|latest|earliest)/gi, ''],
  [/(?<=\bhow (?:long|much|many)\b.*)\b(?:usually|normally|typically|generally|as a rule)\b/gi, 'on average'],
  [/(?<=\bhow (?:long|many days) do(?:es)? .*)\btake\b(?!.*\baverage\b)/gi, 'take on average'],
  [/\b(?:(?:are|is) )?(?:coming up|still to come)\b/gi, 'are upcoming'],
  [
    /\bwhat (?:is|was) (?:our|the) (pass|success|fail|cancel|return|complet)(?:ed|ure|lation|ion)? rate\b/gi,
    'what percentage of rows are $1ed',
  ],
  [/(?<=\bhow (?:long|many days)\b.*)\bto pay\b/gi, 'paid'],
  [/(?<=\bhow (?:long|many (?:days|hours|minutes))\b.*)\b(?:have to |has to |had to )?wait(?:s|ed)?(?: for| until)?\b/gi, 'take'],
  [/\bfor an? (?=(?:kilo|kg|lit(?:er|re)|hour|bottle|piece|met(?:er|re))\b)/gi, 'per '],
  [
    /(?<!\bon )\bhow many days (?=(?:did|have|had) (?:we|i|they) (?:have|had|get|got|sell|sold|take|took|make|made)\b)/gi,
    'on how many days ',
  ],
  // "How many days ahead".
  [/(?<=\bhow (?:long|many days|far)\b.*)\s(?:in advance|ahead(?: of time)?|beforehand)\b/gi, ''],
]

export const simplifyPhrases = (text: string): string =>
  PHRASES.reduce((simple, [phrase, replacement]) => simple.replaceAll(phrase, replacement), text)
