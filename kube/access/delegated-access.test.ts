import { expect, it } from 'vitest';
import { KubeError } from '../errors.ts';
import { createFakeClock } from '../fake-clock.ts';
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
  expect(tries.filter((one) => one === 'unauthenticated')).toHaveLength(9);
  expect(tries.filter((one) => one === 'unavailable')).toHaveLength(91);
  expect(asked).toHaveLength(11);
  expect(await ask('/metrics', 'Bearer prometheus')).toBe('allowed');
  await advance(1000);
  expect(await ask('/metrics', 'Bearer another')).toBe('unauthenticated');
});

it('is closed while the API server does not answer, and remembers no such answer', async () => {
  const it = server();
  it.isDown = true;
  expect(await it.ask('/metrics', 'Bearer prometheus')).toBe('unavailable');
  it.isDown = false;
  expect(await it.ask('/metrics', 'Bearer prometheus')).toBe('allowed');
});
