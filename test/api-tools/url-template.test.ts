import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkUrlTemplate, fillUrl } from '../../daemon/api-tools/url-template.ts'
import { CadreError } from '../../src/contract/errors.ts'

const test = suite('addresses with placeholders')

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

test('a value is one segment of the path, whatever is in it', () => {
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

test('numbers and truth values are written out', () => {
  assert.equal(
    [path(5), path(-1.5), path(0), path(true), path(false)].join(' '),
    '/weather/5/now /weather/-1.5/now /weather/0/now /weather/true/now /weather/false/now',
  )
})

test('what would be no segment of its own is refused', () => {
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
      'must be a text, a number or true or false',
    )
  assert.match(
    problem(() => path('\ud800')),
    'half of a surrogate pair',
  )
})

test('dots that only come together in the address are refused too', () => {
  const both = (a: string, b: string, template: string) => problem(() => fillUrl(template, { a, b }))
  assert.match(both('.', '.', 'https://x.example/{a}{b}/y'), 'must not be "." or ".."')
  assert.match(both('.', 'x', 'https://x.example/.{a}/y'), 'must not be "." or ".."')
  assert.match(both('2e', 'x', 'https://x.example/%{a}/y'), 'must not be "." or ".."')
  assert.is(fillUrl('https://x.example/a/../{a}', { a: 'b' }).pathname, '/b', 'those of the template itself are its own business')
})

test('a placeholder in the query is filled, and its part is left out where there is no value', () => {
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

test('what stands after # is not sent, and takes no placeholder', () => {
  assert.is(fillUrl('https://x.example/{a}#part', { a: 'b' }).href, 'https://x.example/b')
  assert.match(
    problem(() => checkUrlTemplate('https://x.example/a#{b}')),
    'after #',
  )
})

test('values named like what every object has are not taken from there', () => {
  assert.match(
    problem(() => fillUrl('https://x.example/{constructor}', {})),
    'arguments.constructor: is required',
  )
})

test('no text leaves its place: the host, the other segments and the query stay what they are', () => {
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
