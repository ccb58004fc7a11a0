/** What is read character by character is what a regular expression reads. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { monitorLines, type ReportedFlow } from '../testing/monitor-text.ts';
import { NORMAL_FORMS } from '../testing/normal-forms.ts';
import { type CanonicalFlow, fieldsOf, printedFlow } from './flow.ts';
import { FlowMonitorReader } from './flow-monitor.ts';
import { HexDump } from './hex-dump.ts';

const EVENT =
  /^ event=ADDED(?: reason=[a-z_]+)? table=([0-9]+)(?: [a-z_]+_timeout=[0-9]+)* cookie=([0-9a-fx]+) ?(.*?)(?: ?actions=(.*))?$/;
const DUMP = /^[0-9a-f]{8} {2}((?:[0-9a-f]{2}[ -]){1,16}) *\|/;

const words = fc.stringMatching(/^[a-z_]{1,8}=[0-9a-z.:/+(),=[\]-]{0,20}$/);
const match = fc.oneof(
  fc.constantFrom(...NORMAL_FORMS.map(({ printed }) => printed.match)),
  fc.array(words, { maxLength: 5 }).map((all) => all.join(',')),
);
const actions = fc.option(
  fc.oneof(
    fc.constantFrom(...NORMAL_FORMS.map(({ printed }) => printed.actions)),
    fc.stringMatching(/^[a-z0-9:,()=> actions=-]{0,40}$/),
  ),
  { nil: undefined },
);
const flow: fc.Arbitrary<ReportedFlow> = fc.record({
  event: fc.constantFrom('ADDED', 'DELETED', 'MODIFIED'),
  table: fc.nat({ max: 254 }),
  priority: fc.nat({ max: 65_535 }),
  cookie: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  match: match.filter((text) => !text.includes('actions=')),
  actions,
  rest: fc.array(fc.uint8Array({ minLength: 8, maxLength: 8 }), { maxLength: 8 }).map((all) => Buffer.concat(all)),
});

const expected = ({ table, priority, cookie, match: text, actions: printedActions }: ReportedFlow): CanonicalFlow =>
  printedFlow(table, priority, {
    match: fieldsOf(text),
    cookie: cookie === 0n ? '0' : `0x${cookie.toString(16)}`,
    actions: printedActions ?? 'drop',
  });

const read = (lines: readonly string[]) => {
  const reader = new FlowMonitorReader();
  return lines.flatMap((line) => [...reader.push(line)]);
};

/** Undefined: not understood. */
const attempt = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    return undefined;
  }
};

const PIECES = [
  ' reason=delete',
  ' reason=',
  ' table=7',
  ' table=',
  ' table=0000000000000007',
  ' idle_timeout=3',
  ' _timeout=3',
];
const MORE = [
  ' cookie=0x5',
  ' cookie=5x',
  ' cookie=0',
  ' ',
  'ip',
  ',in_port=1',
  ' actions=',
  'actions=drop',
  'X',
  '=',
  ' x=1',
];
const tail = fc.array(fc.constantFrom(...PIECES, ...MORE), { maxLength: 9 }).map((all) => all.join(''));

describe('events of a flow monitor', () => {
  it('are read as they were reported', () => {
    fc.assert(
      fc.property(fc.array(flow, { minLength: 1, maxLength: 5 }), (flows) => {
        const kinds = flows.map(({ event }) => (event === 'DELETED' ? 'deleted' : 'present'));
        const want = flows.map((one, index) => ({ kind: kinds[index], flow: expected(one) }));
        expect(read(monitorLines(flows))).toEqual(want);
      }),
    );
  });

  it('are understood exactly where the regular expression understands them', () => {
    const base: ReportedFlow = {
      event: 'ADDED',
      table: 7,
      priority: 3,
      cookie: 5n,
      match: '',
      actions: '',
      rest: Buffer.of(),
    };
    const lines = monitorLines([base]);
    fc.assert(
      fc.property(tail, (text) => {
        const line = ` event=ADDED${text}`;
        const [, table, cookie, fields = '', does] = EVENT.exec(line) ?? [];
        const isOf = Number(table) === 7 && (table ?? '').length <= 16 && cookie === '0x5';
        const want = printedFlow(7, 3, { match: fieldsOf(fields), cookie: '0x5', actions: does ?? 'drop' });
        const found = attempt(() => read(lines.with(3, line)));
        expect(found).toEqual(isOf ? [{ kind: 'present', flow: want }] : undefined);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('a line of a dump of bytes', () => {
  const part = fc.constantFrom(
    '00000000',
    '0000000',
    '  ',
    ' ',
    '06 ',
    '13 ',
    '00-',
    'fg ',
    'AB ',
    '|',
    '-',
    '00 00 00 00 00 00 00 ',
  );
  it('is understood exactly where the regular expression understands it', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), fc.boolean(), (parts, begins) => {
        const line = `${begins ? '00000000  06 13 ff ff ' : ''}${parts.join('')}`;
        const bytes = DUMP.exec(line)?.[1]?.split(/[ -]/).slice(0, -1);
        const isRight = bytes !== undefined && line.startsWith('00000000');
        const dump = new HexDump();
        const found = attempt(() => {
          dump.push(line);
          return [...new Uint8Array(dump.bytes.buffer, 0, dump.bytes.byteLength)];
        });
        const numbers = bytes?.map((byte) => Number.parseInt(byte, 16)) ?? [];
        const isTooMany = numbers.length >= 8 && numbers.length > (numbers[2] ?? 0) * 256 + (numbers[3] ?? 0);
        expect(found).toEqual(isRight && !isTooMany ? numbers : undefined);
      }),
      { numRuns: 5_000 },
    );
  });
});
