import fc from 'fast-check'
import { eventCatalogue, eventCategories } from '#features/contract.ts'
import type { SiemEvent, SiemSource } from './index.ts'

/** Characters that are special in one of the formats, and ordinary ones. */
const pieces = fc.constantFrom(
  ...[
    '\r',
    '\n',
    '\r\n',
    '\0',
    '\u0085',
    '\u2028',
    '\u2029',
    '\t',
    '\u001b[31m',
    '\u007f',
    '\u202e',
    '\u2066',
    '\ufeff',
  ],
  ...['"', '\\', ']', '[', '|', '=', '<', '>', '{', '}', ' ', '  ', '…'],
  ...[
    '\\n',
    '\\]',
    '\\"',
    '\\|',
    '\\=',
    ' msg=',
    ' cs1=x',
    '] [evil x="y"',
    '<13>1 - - - - - - x',
    '\nCEF:0|a|b|c|d|e|9|',
  ],
  ...['\ud800', '\udc00', '𝔘', 'ä', '你好', '\u0301', '__proto__', '12 '],
)
const text = (most: number) =>
  fc
    .array(fc.oneof(pieces, fc.string({ unit: 'grapheme', maxLength: 12 }), fc.string({ maxLength: 12 })), {
      maxLength: most,
    })
    .map((parts) => parts.join(''))
/** Lengths up to far more than the maximum of a message. */
const hostile = fc.oneof(
  text(6),
  text(60),
  text(6).map((part) => part.repeat(400)),
)

export const events: fc.Arbitrary<SiemEvent> = fc.record({
  eventID: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  category: fc.constantFrom(...eventCategories),
  creationTime: fc.constantFrom('2031-05-04T10:11:12.345', '1999-12-31T23:59:59.999'),
  occurredAt: fc.constantFrom('1999-12-31T23:59:59.999', '2031-05-04T10:11:12.345'),
  occurredUncertaintyMs: fc.constantFrom(null, 0, 2_147_483_647),
  eventCode: fc.oneof(
    fc.constantFrom(...Object.values(eventCatalogue).map(({ code }) => code)),
    fc.constant('0x1FFFFF'),
  ),
  severity: fc.integer({ min: -1, max: 9 }),
  severityString: hostile,
  eventEntityID: hostile,
  description: hostile,
  hashtags: hostile,
  peripheralIcon: fc.constantFrom('-1', '1', '3', '98'),
  details: hostile,
  agentId: hostile,
  hostName: hostile,
  address: fc.oneof(hostile, fc.ipV4(), fc.ipV6(), fc.constant('')),
  deviceId: hostile,
  vid: hostile,
  pid: hostile,
  serial: hostile,
  vendorName: hostile,
  productName: hostile,
})
export const sources: fc.Arbitrary<SiemSource> = fc.record({ version: hostile, instance: hostile })
