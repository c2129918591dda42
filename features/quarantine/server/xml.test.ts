import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeXml, findXml, readXml, xmlText } from './xml.ts'

describe('readXml', () => {
  it('reads the answers of ISE and CounterACT', () => {
    const error = readXml(
      '\ufeff<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<ns3:ersResponse operation="PUT-x" xmlns:ns3="ers.ise.cisco.com"><!-- a --><link rel="related"/><messages><message type=\'ERROR\' code="A &amp; B"><title>No &lt;such&gt; &#x201c;thing&#8221;</title></message></messages></ns3:ersResponse>\n',
    )
    expect(error?.name).toBe('ersResponse')
    expect(findXml(error, 'message')?.attributes).toMatchObject({ type: 'ERROR', code: 'A & B' })
    expect(xmlText(error, 'title')).toBe('No <such> “thing”')
    expect(xmlText(readXml('<sessionCount><count> 12 </count></sessionCount>'), 'count')).toBe('12')
    expect([xmlText(error, 'absent'), xmlText(null, 'x')]).toEqual(['', ''])
  })

  it.each([
    '',
    'text',
    '<a>',
    '<a></b>',
    '<a/><b/>',
    '<a><a></a>',
    '</a>',
    '<a b=c/>',
    '<a b="<"/>',
    '<!DOCTYPE a><a/>',
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    '<a>&x;</a>',
    '<a>&#xD800;</a>',
    '<a>&#x110000;</a>',
    '<a><![CDATA[x]]></a>',
    '<a><?php ?></a>',
    '<a><!-- </a>',
    `${'<a>'.repeat(17)}${'</a>'.repeat(17)}`,
    '{"a": 1}',
  ])('rejects %s', (source) => {
    expect(readXml(source)).toBeNull()
  })

  it('never throws, and reads back escaped text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readXml(`<a>${text}</a>`)))
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readXml(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`)).toMatchObject({
          attributes: { b: text },
          text: text.trim(),
        })
      }),
    )
    const long = `<a>${'<b>x</b>'.repeat(19_000)}</a>`
    const startedAt = performance.now()
    expect(readXml(long)?.children).toHaveLength(19_000)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })

  it('reads self-closing elements as fast as others, however long the document is', () => {
    const filling = 'x'.repeat(190)
    const document = (element: string): string => `<a>${`${element}${filling}`.repeat(19_999)}</a>`
    const timed = (source: string): number => {
      const startedAt = performance.now()
      const read = readXml(source)
      expect([read?.children.length, read?.text.length]).toEqual([19_999, 19_999 * 190])
      return performance.now() - startedAt
    }
    const usual = timed(document('<b></b>'))
    // They took a thousand times as long, because each copied the rest of the text.
    expect(timed(document('<b/>'))).toBeLessThan(100 + usual * 50)
  })
})
