import { createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { parseDomainName } from '../../net/domain-name.ts';
import { parseIp } from '../../net/ip.ts';
import {
  type DnsAnswering,
  type DnsQuery,
  type DnsTestServer,
  dnsReply,
  startDnsServer,
} from '../testing/dns-server.ts';
import { DnsClient } from './client.ts';
import { askByTcp, askByUdp } from './exchange.ts';
import { questionFor } from './message.ts';
import { fixedServers } from './servers.ts';

const NAME = parseDomainName('www.example.com');
const servers: DnsTestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const start = async (answering: DnsAnswering, host = '127.0.0.1'): Promise<DnsTestServer> => {
  const server = await startDnsServer(host, answering);
  servers.push(server);
  return server;
};

const clientOf = (all: readonly { readonly port: number; readonly host?: string }[], clock = systemClock): DnsClient =>
  new DnsClient({
    servers: fixedServers(all.map(({ port, host = '127.0.0.1' }) => ({ ip: parseIp(host), port }))),
    udp: askByUdp(clock),
    tcp: askByTcp(clock),
  });

const signal = (): AbortSignal => new AbortController().signal;

const withAddress = (query: DnsQuery, data: string): Uint8Array =>
  dnsReply(query, { answers: [{ type: query.type as 'A', name: query.name, data, ttl: 60 }] });

describe('a question to real servers', () => {
  it('is answered by UDP, over both families of addresses', async () => {
    const four = await start((query) => [withAddress(query, '192.0.2.1')]);
    expect(await clientOf([four]).resolve(NAME, 4, signal())).toEqual({
      ...{ kind: 'addresses', addresses: ['192.0.2.1'], ttl: 60 },
    });
    const six = await start((query) => [withAddress(query, '2001:db8::1')], '::1');
    expect(await clientOf([{ ...six, host: '::1' }]).resolve(NAME, 6, signal())).toMatchObject({
      addresses: ['2001:db8::1'],
    });
    expect(six.queries.map(({ name, type, transport }) => [name.toLowerCase(), type, transport])).toEqual([
      ['www.example.com', 'AAAA', 'udp'],
    ]);
  });

  it('is asked by TCP where the answer is truncated', async () => {
    const many = Array.from({ length: 2000 }, (_, index) => `198.18.${index >> 8}.${index & 255}`);
    const server = await start((query) =>
      query.transport === 'udp'
        ? [dnsReply(query, { flags: 0x380 })]
        : [dnsReply(query, { answers: many.map((data) => ({ type: 'A', name: query.name, data, ttl: 60 }) as const) })],
    );
    const result = await clientOf([server]).resolve(NAME, 4, signal());
    expect(result.kind === 'addresses' && result.addresses).toEqual(many);
  });

  it('drops what guesses: other ids, other questions, and rubbish', async () => {
    const server = await start((query) => [
      withAddress({ ...query, id: query.id ^ 1 }, '192.0.2.66'),
      withAddress({ ...query, name: 'evil.example' }, '192.0.2.66'),
      Uint8Array.of(1, 2, 3),
      withAddress(query, '192.0.2.1'),
    ]);
    expect(await clientOf([server]).resolve(NAME, 4, signal())).toMatchObject({ addresses: ['192.0.2.1'] });
  });

  it.each<[string, (query: DnsQuery) => Uint8Array[]]>([
    [
      'guesses many times',
      (query) => Array.from({ length: 9 }, () => withAddress({ ...query, id: query.id ^ 1 }, '192.0.2.66')),
    ],
    [
      'does not know the case of letters',
      (query) => [withAddress({ ...query, name: 'WWW.EXAMPLE.COM' }, '192.0.2.66')],
    ],
  ])('is asked by TCP where somebody %s', async (_, guess) => {
    const server = await start((query) =>
      query.transport === 'udp'
        ? guess(query)
        : [withAddress({ ...query, name: query.name.toLowerCase() }, '192.0.2.1')],
    );
    expect(await clientOf([server]).resolve(NAME, 4, signal())).toMatchObject({ addresses: ['192.0.2.1'] });
    expect(server.queries.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
  });

  it('takes packets of the server only, whoever knows all of the question', async () => {
    const stranger = createSocket('udp4');
    const server = await start(async (query) => {
      const sent = Promise.withResolvers<void>();
      stranger.send(withAddress(query, '192.0.2.66'), query.from, '127.0.0.1', () => sent.resolve());
      await sent.promise;
      return [withAddress(query, '192.0.2.1')];
    });
    expect(await clientOf([server]).resolve(NAME, 4, signal())).toMatchObject({ addresses: ['192.0.2.1'] });
    stranger.close();
  });

  it('goes to the next server, and stays with the one that has answered', async () => {
    const failing = await start((query) => [dnsReply(query, { flags: 0x182 })]);
    const good = await start((query) => [withAddress(query, '192.0.2.1')]);
    const client = clientOf([failing, good]);
    await client.resolve(NAME, 4, signal());
    await client.resolve(NAME, 4, signal());
    expect([failing.queries.length, good.queries.length]).toEqual([1, 2]);
  });

  it('fails with what each server has said', async () => {
    const failing = await start((query) => [dnsReply(query, { flags: 0x182 })]);
    const closed = await startDnsServer('127.0.0.1', () => []);
    await closed.close();
    expect(await clientOf([failing, closed]).resolve(NAME, 4, signal())).toEqual({
      kind: 'failed',
      why: `127.0.0.1:${failing.port}: SERVFAIL; 127.0.0.1:${closed.port}: recvmsg ECONNREFUSED`,
    });
    expect(failing.queries).toHaveLength(2);
    expect(await clientOf([]).resolve(NAME, 4, signal())).toEqual({
      ...{ kind: 'failed', why: 'there is no DNS server in resolv.conf' },
    });
  });

  it('waits two seconds for each, by its own clock, and no longer than it is wanted', async () => {
    const clock = createFakeClock();
    const asked = Promise.withResolvers<void>();
    const silent = await start(() => {
      asked.resolve();
      return [];
    });
    const client = clientOf([silent], clock);
    const failed = client.resolve(NAME, 4, signal());
    await asked.promise;
    await clock.next();
    await clock.next();
    expect(await failed).toEqual({ kind: 'failed', why: `127.0.0.1:${silent.port}: no answer within 2 s` });
    const ended = new AbortController();
    const aborted = client.resolve(NAME, 4, ended.signal);
    ended.abort();
    expect(await aborted).toMatchObject({ kind: 'failed' });
    expect(clock.pending).toBe(0);
  });

  it.each<[string, number]>([
    ['255.255.255.255', 53],
    ['ff02::1', 53],
    ['127.0.0.1', 65_536],
  ])('fails where connecting a socket to %s, port %d, fails at once', async (host, port) => {
    const clock = createFakeClock();
    const server = { ip: parseIp(host), port };
    for (const ask of [askByUdp, askByTcp]) {
      expect(await ask(clock)(server, questionFor(NAME, 4), signal())).toEqual({
        kind: 'silent',
        why: expect.stringMatching(/connect|[Pp]ort/),
      });
      expect(clock.pending).toBe(0);
    }
  });

  it('may be withdrawn at any moment while its socket is being connected', async () => {
    const server = await start((query) => [withAddress(query, '192.0.2.1')]);
    const question = questionFor(NAME, 4);
    for (let turns = 0; turns < 12; turns++) {
      const ended = new AbortController();
      const asked = askByUdp(systemClock)({ ip: parseIp('127.0.0.1'), port: server.port }, question, ended.signal);
      for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => process.nextTick(resolve));
      ended.abort();
      expect(await asked).toMatchObject({ kind: 'silent' });
    }
  });
});
