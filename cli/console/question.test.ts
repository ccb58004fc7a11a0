import fc from 'fast-check';
import { expect, it } from 'vitest';
import { questionOf, targetOf, wordsOf } from './question.ts';

const asked = (body: unknown) => {
  const question = questionOf(body);
  return question === undefined ? undefined : [targetOf(question), wordsOf(question)];
};

it.each([
  [
    { kind: 'trace', from: 'red/a', to: '10.0.0.1', port: 53, protocol: 'udp' },
    [{ pod: 'red/a' }, ['trace', '--from=pod', '--from=red/a', '--to=10.0.0.1', '--port=53', '--proto=udp']],
  ],
  [
    { kind: 'trace', from: 'red/a', to: 'service/red/web:80' },
    [{ pod: 'red/a' }, ['trace', '--from=pod', '--from=red/a', '--to=service/red/web:80']],
  ],
  [{ kind: 'explain-pod', pod: 'red/a' }, [{ pod: 'red/a' }, ['explain', '--', 'pod', 'red/a']]],
  [
    { kind: 'explain-network', network: 'red_net', node: 'n1' },
    [{ node: 'n1' }, ['explain', '--', 'network', 'red_net']],
  ],
  [
    { kind: 'explain-service', service: 'red/web', node: 'n1' },
    [{ node: 'n1' }, ['explain', '--', 'service', 'red/web']],
  ],
  [{ kind: 'problems', node: 'n1' }, [{ node: 'n1' }, ['problems']]],
])('%j', (body, expected) => expect(asked(body)).toEqual(expected));

it.each([
  undefined,
  'trace',
  { kind: 'doctor', node: 'n1' },
  { kind: 'problems', node: '--fix' },
  { kind: 'problems', node: 'n1', fix: true },
  { kind: 'explain-pod', pod: 'red/a b' },
  { kind: 'trace', from: 'red/a', to: '$(id)' },
  { kind: 'trace', from: 'red/a', to: '--raw' },
  { kind: 'trace', from: 'red/a', to: '10.0.0.1', port: 0 },
  { kind: 'trace', from: 'red/a', to: '10.0.0.1', protocol: 'tcp --raw' },
])('%j is no question', (body) => expect(asked(body)).toBeUndefined());

it('no text becomes an option, or a word more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('from', 'to'), (text, field) => {
      const question = questionOf({ kind: 'trace', from: 'red/a', to: '10.0.0.1', [field]: text });
      if (question === undefined) return;
      expect(wordsOf(question)).toHaveLength(4);
      expect(wordsOf(question).every((word) => /^(trace$|--(from|to)=[A-Za-z0-9.:])/.test(word))).toBe(true);
    }),
  );
});
