import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { KubeError } from '../errors.ts';
import type { RawRequest } from '../types.ts';
import { type AskAccess, createDelegatedAccess } from './delegated-access.ts';

interface Server {
  readonly ask: AskAccess;
  readonly asked: string[];
  advance(ms: number): Promise<void>;
  isDown: boolean;
}

const USERS: Readonly<Record<string, object>> = {
  prometheus: { username: 'system:serviceaccount:monitoring:prometheus', groups: ['system:authenticated'] },
  tenant: { username: 'system:serviceaccount:red:default', extra: { scope: ['red'] } },
};

/** Answers as an API server does where only Prometheus may get /metrics. */
const server = (): Server => {
  const clock = createFakeClock();
  const asked: string[] = [];
  const request = async ({ path: at, body }: RawRequest) => {
    if (result.isDown) throw new KubeError('ERR_KUBE_NETWORK', 'connection refused');
    asked.push(at);
    const { spec } = body as { spec: Record<string, unknown> };
    const user = USERS[String(spec['token'])];
    const { path } = (spec['nonResourceAttributes'] ?? {}) as { path?: string };
    const status =
      at === '/apis/authentication.k8s.io/v1/tokenreviews'
        ? { ...(user && { authenticated: true }), user: user ?? {} }
        : { allowed: path === '/metrics' && String(spec['user']).endsWith(':prometheus') };
    return { metadata: {}, status };
  };
  const result: Server = {
    ask: createDelegatedAccess({ client: { request }, clock }),
    asked,
    advance: (ms) => clock.advance(ms),
    isDown: false,
  };
  return result;
};

it('lets those get a path who may', async () => {
  const { ask, asked } = server();
  expect(await ask('/metrics', 'Bearer prometheus')).toBe('allowed');
  expect(await ask('/readyz', 'Bearer prometheus')).toBe('forbidden');
  expect(await ask('/metrics', 'bearer tenant')).toBe('forbidden');
  expect(await ask('/metrics', 'Bearer somebody')).toBe('unauthenticated');
  expect(asked).toHaveLength(7);
});

it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic prometheus', 'Bearer a b', `Bearer ${'x'.repeat(20_000)}`])(
  'asks nobody about what is no bearer token: %#',
  async (authorization) => {
    const { ask, asked } = server();
    expect(await ask('/metrics', authorization)).toBe('unauthenticated');
    expect(asked).toEqual([]);
  },
);

it('keeps a yes for a minute and a no for ten seconds', async () => {
  const { ask, asked, advance } = server();
  const both = async () => [await ask('/metrics', 'Bearer prometheus'), await ask('/metrics', 'Bearer tenant')];
  await both();
  await both();
  expect(asked).toHaveLength(4);
  await advance(10_001);
  await both();
  expect(asked).toHaveLength(6);
  await advance(60_001);
  await both();
  expect(asked).toHaveLength(10);
});

it('asks once for what is asked at the same time', async () => {
  const { ask, asked } = server();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/metrics', 'Bearer prometheus')));
  expect(new Set(answers)).toEqual(new Set(['allowed']));
  expect(asked).toHaveLength(2);
});

it('holds whoever tries tokens to some a second, and serves a known one meanwhile', async () => {
  const { ask, asked, advance } = server();
  await ask('/metrics', 'Bearer prometheus');
  const tries = await Promise.all(Array.from({ length: 100 }, (_, index) => ask('/metrics', `Bearer try${index}`)));
  expect(tries.filter((one) => one === 'unauthenticated')).toHaveLength(10);
  expect(tries.filter((one) => one === 'unavailable')).toHaveLength(90);
  expect(asked).toHaveLength(12);
  expect(await ask('/metrics', 'Bearer prometheus')).toBe('allowed');
  await advance(1000);
  expect(await ask('/metrics', 'Bearer another')).toBe('unauthenticated');
});

const tries = async (ask: AskAccess, count: number, peer: string, name = 'try'): Promise<readonly string[]> =>
  await Promise.all(Array.from({ length: count }, (_, index) => ask('/metrics', `Bearer ${name}${index}`, peer)));

it('asks about a new token although another address tries tokens all the time', async () => {
  const { ask, advance } = server();
  await tries(ask, 500, '10.0.0.1');
  expect(await ask('/metrics', 'Bearer prometheus', '10.0.0.2')).toBe('allowed');
  for (let second = 0; second < 20; second++) {
    await tries(ask, 500, '10.0.0.1', `${second}-`);
    expect(await ask('/metrics', 'Bearer another', `10.0.1.${second}`)).toBe('unauthenticated');
    await advance(1000);
  }
});

it('takes the addresses of one network of IPv6 for one', async () => {
  const { ask } = server();
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, index) => ask('/metrics', `Bearer x${index}`, `fd00::${index.toString(16)}`)),
  );
  expect(all.filter((one) => one !== 'unavailable')).toHaveLength(10);
});

it('asks about the next token of who was allowed though all others together ask as much as they may', async () => {
  const { ask, advance, asked } = server();
  expect(await ask('/metrics', 'Bearer prometheus', '10.0.0.2')).toBe('allowed');
  await advance(60_001);
  const before = asked.length;
  for (let peer = 0; peer < 20; peer++) await tries(ask, 10, `10.0.1.${peer}`, `${peer}-`);
  expect(asked.length - before).toBe(50);
  expect(await ask('/metrics', 'Bearer stranger', '10.0.0.3')).toBe('unavailable');
  expect(await ask('/metrics', 'Bearer tenant', '10.0.0.2')).toBe('forbidden');
});

it('forgets no right token for the number of wrong ones', async () => {
  const { ask, asked, advance } = server();
  await ask('/metrics', 'Bearer prometheus', '10.0.0.2');
  for (let second = 0; second < 55; second++) {
    await tries(ask, 10, `10.0.2.${second}`, `${second}-`);
    await advance(1000);
  }
  const before = asked.length;
  expect(before).toBeGreaterThan(300);
  expect(await ask('/metrics', 'Bearer prometheus', '10.0.0.2')).toBe('allowed');
  expect(asked).toHaveLength(before);
});

it('is closed while the API server does not answer, and remembers no such answer', async () => {
  const it = server();
  it.isDown = true;
  expect(await it.ask('/metrics', 'Bearer prometheus')).toBe('unavailable');
  it.isDown = false;
  expect(await it.ask('/metrics', 'Bearer prometheus')).toBe('allowed');
});
