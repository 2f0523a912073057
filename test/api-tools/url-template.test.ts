import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkUrlTemplate, fillUrl } from '../../daemon/api-tools/url-template.ts'
import { CadreError } from '../../src/contract/errors.ts'

const test = suite('URL templates')

function problem(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.instance(error, CadreError)
    return (error as CadreError).message
  }
  return 'nothing wrong'
}

const path = (value: unknown, template = 'https://api.example.com/weather/{city}/now') => {
  const { href } = fillUrl(template, { city: value })
  return href.replace('https://api.example.com', '')
}

test('a value is encoded as one path segment', () => {
  assert.is(path('São Paulo/..'), '/weather/S%C3%A3o%20Paulo%2F../now')
  assert.is(path('a?b=c#d'), '/weather/a%3Fb%3Dc%23d/now')
  assert.is(path('..\\..'), '/weather/..%5C../now')
  assert.is(path('%2e%2e'), '/weather/%252e%252e/now')
  assert.is(path('...'), '/weather/.../now')
  assert.is(path('//evil.example/'), '/weather/%2F%2Fevil.example%2F/now')
  assert.is(path('@evil.example:80'), '/weather/%40evil.example%3A80/now')
  assert.is(path('a\r\nb\tc\u0000'), '/weather/a%0D%0Ab%09c%00/now')
  assert.is(path('{city}'), '/weather/%7Bcity%7D/now')
})

test('numbers and booleans are formatted', () => {
  assert.equal(
    [path(5), path(-1.5), path(0), path(true), path(false)].join(' '),
    '/weather/5/now /weather/-1.5/now /weather/0/now /weather/true/now /weather/false/now',
  )
})

test('empty, dot, missing and structured path values are rejected', () => {
  for (const value of ['.', '..'])
    assert.match(
      problem(() => path(value)),
      'arguments.city: must not be "." or ".."',
    )
  assert.match(
    problem(() => path('')),
    'arguments.city: must not be empty',
  )
  for (const value of [undefined, null])
    assert.match(
      problem(() => path(value)),
      'arguments.city: is required',
    )
  for (const value of [[], ['a'], {}, { a: 1 }])
    assert.match(
      problem(() => path(value)),
      'must be a string, number or boolean',
    )
  assert.match(
    problem(() => path('\ud800')),
    'unpaired surrogate',
  )
})

test('dot segments that form only in the URL are rejected', () => {
  const both = (a: string, b: string, template: string) => problem(() => fillUrl(template, { a, b }))
  assert.match(both('.', '.', 'https://x.example/{a}{b}/y'), 'must not be "." or ".."')
  assert.match(both('.', 'x', 'https://x.example/.{a}/y'), 'must not be "." or ".."')
  assert.match(both('2e', 'x', 'https://x.example/%{a}/y'), 'must not be "." or ".."')
  assert.is(fillUrl('https://x.example/a/../{a}', { a: 'b' }).pathname, '/b', 'dot segments of the template itself are allowed')
})

test('a query parameter without a value is omitted', () => {
  const template = 'https://x.example/a?fixed=1&d={day}&e={from}-{to}'
  assert.is(fillUrl(template, { day: 'a&b=c', from: 1, to: 2 }).search, '?fixed=1&d=a%26b%3Dc&e=1-2')
  assert.is(fillUrl(template, { from: 1 }).search, '?fixed=1')
  assert.is(fillUrl('https://x.example/a?d={day}', {}).href, 'https://x.example/a')
  assert.is(fillUrl(template, { day: '' }).search, '?fixed=1&d=')
  assert.match(
    problem(() => fillUrl(template, { day: ['a'] })),
    'arguments.day',
  )
})

test('a fragment is not sent and cannot contain placeholders', () => {
  assert.is(fillUrl('https://x.example/{a}#part', { a: 'b' }).href, 'https://x.example/b')
  assert.match(
    problem(() => checkUrlTemplate('https://x.example/a#{b}')),
    'after #',
  )
})

test('inherited object properties are not used as values', () => {
  assert.match(
    problem(() => fillUrl('https://x.example/{constructor}', {})),
    'arguments.constructor: is required',
  )
})

test('no value changes the host, other segments or the query', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '?', '#', '@', ':', '\t', '\n', '{', '}') }),
      ),
      (value) => {
        let url: URL
        try {
          url = fillUrl('https://api.example.com:8443/a/{x}/b?c=1', { x: value })
        } catch (error) {
          assert.instance(error, CadreError)
          return
        }
        const [nothing, a, filled = '', b, ...more] = url.pathname.split('/')
        assert.equal(
          [url.origin, nothing, a, b, more, url.search, url.hash, url.username],
          ['https://api.example.com:8443', '', 'a', 'b', [], '?c=1', '', ''],
        )
        assert.is(decodeURIComponent(filled), value)
      },
    ),
    { numRuns: 3_000 },
  )
})

test.run()
