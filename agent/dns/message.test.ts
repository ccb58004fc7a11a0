import { type Answer, decode, encode, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDomainName } from '../../net/domain-name.ts';
import { type DnsQuestion, encodeQuestion, questionFor, readReply } from './message.ts';

const NAME = parseDomainName('www.example.com');
const QUESTION: DnsQuestion = { id: 7, name: 'wWw.exAmple.com', family: 4 };

const reply = (packet: Partial<Packet>, question = QUESTION): Uint8Array =>
  encode({
    ...{ type: 'response', id: question.id, flags: 0x180 },
    questions: [{ type: question.family === 4 ? 'A' : 'AAAA', name: question.name }],
    ...packet,
  });

const a = (name: string, data: string, ttl = 300) => ({ type: 'A', name, data, ttl }) as const;
const cname = (name: string, data: string, ttl = 300) => ({ type: 'CNAME', name, data, ttl }) as const;
const soa = (ttl: number, minimum: number): Answer => ({
  type: 'SOA',
  name: 'example.com',
  ttl,
  data: { mname: 'a', rname: 'b', serial: 1, refresh: 1, retry: 1, expire: 1, minimum },
});

describe('a question', () => {
  it('asks for one type, and recursion', () => {
    const { id, questions, flag_rd: recursion } = decode(Buffer.from(encodeQuestion({ ...QUESTION, family: 6 })));
    expect([id, recursion, questions]).toEqual([7, true, [{ name: 'wWw.exAmple.com', type: 'AAAA', class: 'IN' }]]);
  });

  it('has an id and a case that nobody can know', () => {
    const questions = Array.from({ length: 50 }, () => questionFor(NAME, 4));
    expect(new Set(questions.map(({ id }) => id)).size).toBeGreaterThan(40);
    expect(new Set(questions.map(({ name }) => name)).size).toBeGreaterThan(40);
    expect(new Set(questions.map(({ name }) => name.toLowerCase()))).toEqual(new Set(['www.example.com']));
  });
});

describe('an answer', () => {
  it.each<[string, Partial<Packet>, unknown]>([
    [
      'addresses, with the shortest time to live',
      { answers: [a('www.example.com', '192.0.2.1', 60), a('WWW.example.com', '192.0.2.2', 30)] },
      { kind: 'addresses', addresses: ['192.0.2.1', '192.0.2.2'], ttl: 30 },
    ],
    [
      'a chain of aliases, of which the shortest time to live counts',
      {
        answers: [
          a('c.example', '192.0.2.3'),
          cname('www.example.com', 'B.example', 20),
          cname('b.example', 'c.example', 9),
        ],
      },
      { kind: 'addresses', addresses: ['192.0.2.3'], ttl: 9 },
    ],
    [
      'an alias of nothing',
      { answers: [cname('www.example.com', 'b.example', 20)], authorities: [soa(50, 10)] },
      { kind: 'addresses', addresses: [], ttl: 10 },
    ],
    [
      'aliases in a circle',
      { answers: [cname('www.example.com', 'b.example', 20), cname('b.example', 'www.example.com', 20)] },
      { kind: 'addresses', addresses: [], ttl: 20 },
    ],
    [
      'addresses of names that were not asked for',
      { answers: [a('evil.example', '192.0.2.9')], authorities: [soa(5, 10)] },
      { kind: 'addresses', addresses: [], ttl: 5 },
    ],
    ['no addresses, and no word for how long', {}, { kind: 'addresses', addresses: [], ttl: 60 }],
    [
      'a time to live with the highest bit',
      { answers: [a('www.example.com', '192.0.2.1', 0x8000_0001)] },
      { kind: 'addresses', addresses: ['192.0.2.1'], ttl: 0 },
    ],
    ['no such name', { flags: 0x183, authorities: [soa(50, 10)] }, { kind: 'nonexistent', ttl: 10 }],
    ['a server that fails', { flags: 0x182 }, { kind: 'refused', why: 'SERVFAIL' }],
    ['a server that refuses', { flags: 0x185 }, { kind: 'refused', why: 'REFUSED' }],
    ['a truncated one', { flags: 0x380 }, { kind: 'truncated' }],
    ['another id', { id: 8, answers: [a('www.example.com', '192.0.2.1')] }, { kind: 'foreign' }],
    ['another question', { questions: [{ type: 'A', name: 'wWw.exAmple.org' }] }, { kind: 'foreign' }],
    ['another type', { questions: [{ type: 'AAAA', name: 'wWw.exAmple.com' }] }, { kind: 'foreign' }],
    ['two questions', { questions: Array(2).fill({ type: 'A', name: 'wWw.exAmple.com' }) }, { kind: 'foreign' }],
    ['no question', { questions: [] }, { kind: 'foreign' }],
    ['a question and no response', { type: 'query' }, { kind: 'foreign' }],
    ['letters of another case', { questions: [{ type: 'A', name: 'www.example.com' }] }, { kind: 'recased' }],
  ])('with %s', (_, packet, expected) => expect(readReply(reply(packet), QUESTION)).toEqual(expected));

  it('of IPv6 has IPv6 addresses, but none that is an IPv4 one', () => {
    const question = { ...QUESTION, family: 6 } as const;
    const answers = ['2001:DB8::1', '::ffff:192.0.2.1'].map(
      (data) => ({ type: 'AAAA', name: 'www.example.com', data, ttl: 5 }) as const,
    );
    expect(readReply(reply({ answers }, question), question)).toEqual({
      ...{ kind: 'addresses', addresses: ['2001:db8::1'], ttl: 5 },
    });
  });

  it('by TCP may have letters of another case', () => {
    const packet = {
      questions: [{ type: 'A', name: 'www.example.com' }],
      answers: [a('www.example.com', '192.0.2.1')],
    } as const;
    expect(
      readReply(reply({ ...packet, questions: [...packet.questions], answers: [...packet.answers] }), QUESTION, true),
    ).toMatchObject({ kind: 'addresses' });
  });

  it('is nothing, whatever bytes arrive', () => {
    const good = reply({
      answers: [a('www.example.com', '192.0.2.1'), cname('x.example', 'y.example')],
      authorities: [soa(1, 1)],
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }),
        fc.nat(good.length),
        (changes, length) => {
          const bytes = Uint8Array.from(good);
          for (const [at, value] of changes) bytes[at] = value;
          const { kind } = readReply(bytes.subarray(0, length), QUESTION);
          expect(['addresses', 'nonexistent', 'truncated', 'refused', 'foreign', 'recased']).toContain(kind);
        },
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => readReply(bytes, QUESTION).kind === 'foreign'),
      { numRuns: 1000 },
    );
  });
});
