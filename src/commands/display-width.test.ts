import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { displayWidth } from './display-width.ts'

describe('the width of a text at a terminal', () => {
  for (const [text, width] of [
    ['', 0],
    ['Acme → Müller & Søn', 19],
    ['日本語', 6],
    ['カタカナ ひらがな', 17],
    ['ｶﾀｶﾅ', 4],
    ['한국어', 6],
    ['한국어'.normalize('NFD'), 6],
    ['Ａ１！', 6],
    ['𠮷', 2],
    ['🎉', 2],
    ['🇩🇪 🇫🇷', 5],
    ['𝒜', 1],
    ['Zoë'.normalize('NFD'), 3],
    ['\u200bשָׁלוֹם', 4],
  ] as const)
    it(`is ${width} for ${JSON.stringify(text)}`, () => {
      assert.equal(displayWidth(text), width)
    })
})
