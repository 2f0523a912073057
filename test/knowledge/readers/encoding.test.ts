import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeText } from '../../../daemon/knowledge/readers/encoding/decode-text.ts'
import { detectEncoding } from '../../../daemon/knowledge/readers/encoding/detect-encoding.ts'
import { readDocument } from '../../../daemon/knowledge/readers/read-document.ts'

const test = suite('document encodings')

const LEGACY = [
  {
    encoding: 'shift_jis',
    text: '名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\nこれはシフトJISで書かれた短い文章です。',
    base64: 'lryRTyyUTpfuLI9aj4oKjbKToZG+mFksMzAsk4yLngqOT5bYiXCOcSwyNSyR5Y3jCoKxguqCzYNWg3SDZ0pJU4LFj5GCqYLqgr2SWoKilbaPzYLFgreBQg==',
  },
  {
    encoding: 'euc-jp',
    text: 'これは日本語の文章です。漢字とひらがなとカタカナがまざっています。',
    base64: 'pLOk7KTPxvzL3LjspM7KuL7PpMekuaGjtMG7+qTIpNKk6aSspMqkyKWrpb+lq6XKpKyk3qS2pMOkxqSkpN6kuaGj',
  },
  {
    encoding: 'gb18030',
    text: '这是一个用国标编码写成的中文文件，里面有一些常用的汉字。',
    base64: '1eLKx9K7uPbTw7n6seqx4MLr0LSzybXE1tDOxM7EvP6jrMDvw+bT0NK70Kmzo9PDtcS6utfWoaM=',
  },
  {
    encoding: 'big5',
    text: '這是一個用大五碼寫成的中文檔案，裡面有一些常用的漢字。',
    base64: 's2+sT6RArdOlzqRqpK29WLxnpqiquqSkpOXAya7XoUG4zK2xprOkQKjHsWClzqq6un6mcqFD',
  },
  {
    encoding: 'euc-kr',
    text: '이것은 한국어로 쓰여진 짧은 문장입니다. 감사합니다.',
    base64: 'wMywzcC6IMfRsbm+7rfOIL6yv6nB+CDCqsC6ILmuwOXA1LTPtNkuILCou+fH1bTPtNku',
  },
  {
    encoding: 'windows-1251',
    text: 'Это небольшой текст на русском языке. Он записан в старой кодировке.',
    base64: '3fLuIO3l4e7r/Pju6SDy5erx8iDt4CDw8/Hx6u7sIP/n++rlLiDO7SDn4O/o8eDtIOIg8fLg8O7pIOru5Ojw7uLq5S4=',
  },
  {
    encoding: 'koi8-r',
    text: 'Это небольшой текст на русском языке. Он записан в старой кодировке.',
    base64: '/NTPIM7Fws/M2NvPyiDUxcvT1CDOwSDS1dPTy8/NINHa2cvFLiDvziDawdDJ08HOINcg09TB0s/KIMvPxMnSz9fLxS4=',
  },
  {
    encoding: 'windows-1252',
    text: 'Le café déjà vu à l’hôtel, façade naïve. Größe und Übermut – “quoted” €5',
    base64: 'TGUgY2Fm6SBk6WrgIHZ1IOAgbJJo9HRlbCwgZmHnYWRlIG5h73ZlLiBHcvbfZSB1bmQg3GJlcm11dCCWIJNxdW90ZWSUIIA1',
  },
  { encoding: 'iso-2022-jp', text: 'これは日本語の文章です。', base64: 'GyRCJDMkbCRPRnxLXDhsJE5KOD5PJEckOSEjGyhC' },
]

const TEXT = 'Größe, 中文 and 😀 in one line.\nA second line.'

function utf16(text: string, little: boolean): Buffer {
  const bytes = Buffer.from(text, 'utf16le')
  return little ? bytes : bytes.swap16()
}

function utf32(text: string, little: boolean): Buffer {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0)
  const bytes = Buffer.alloc(points.length * 4)
  for (const [index, point] of points.entries()) little ? bytes.writeUInt32LE(point, index * 4) : bytes.writeUInt32BE(point, index * 4)
  return bytes
}

for (const { encoding, text, base64 } of LEGACY) {
  test(`${encoding} without a declaration is detected from its bytes`, () => {
    const bytes = Buffer.from(base64, 'base64')
    assert.equal([detectEncoding(bytes), decodeText(bytes)], [encoding, text])
  })
}

test('UTF-8 is detected with and without a byte order mark', () => {
  for (const text of [TEXT, `\ufeff${TEXT}`]) {
    const bytes = Buffer.from(text)
    assert.equal([detectEncoding(bytes), decodeText(bytes)], ['utf-8', TEXT])
  }
})

test('UTF-8 that is truncated within a character is detected as UTF-8', () => {
  assert.is(detectEncoding(Buffer.from('Straße für Größe').subarray(0, -2)), 'utf-8')
})

test('UTF-8 with replacement characters or a few invalid bytes is detected as UTF-8', () => {
  assert.is(detectEncoding(Buffer.from('caf\ufffd')), 'utf-8')
  assert.is(detectEncoding(Buffer.concat([Buffer.from('ü'.repeat(20)), Buffer.from([0xe9]), Buffer.from(' end')])), 'utf-8')
})

for (const little of [true, false]) {
  test(`UTF-16 and UTF-32 in ${little ? 'little' : 'big'} endian are decoded with and without a byte order mark`, () => {
    for (const mark of ['\ufeff', '']) {
      assert.is(decodeText(utf16(mark + TEXT, little)), TEXT)
      assert.is(decodeText(utf32(mark + TEXT, little)).replace('\ufeff', ''), TEXT)
    }
  })
}

test('a page is decoded in the encoding that it declares', async () => {
  const page = Buffer.from(
    '<html><head><meta charset="iso-8859-2"></head><body><p>\xb3\xf3d\xbc i \xbf\xf3\xb3w</p></body></html>',
    'latin1',
  )
  assert.is((await readDocument(new Uint8Array(page), 'page.html')).text, 'łódź i żółw')
})

test('a declared encoding in which the bytes are invalid is ignored', () => {
  const page = Buffer.from('<?xml version="1.0" encoding="shift_jis"?><a>Straße</a>')
  assert.is(detectEncoding(page), 'utf-8')
})

test('ASCII text is detected as UTF-8', () => {
  assert.is(detectEncoding(Buffer.from('Nothing but letters, digits 123 and marks; really.')), 'utf-8')
})

test.run()
