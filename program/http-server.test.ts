import { expect, it } from 'vitest';
import { type Access, startHttpServer } from './http-server.ts';

const ANSWERS: Readonly<Record<string, Access>> = { admin: 'allowed', tenant: 'forbidden', late: 'unavailable' };
const authorize = (_path: string, authorization = ''): Access =>
  ANSWERS[authorization.replace('Bearer ', '')] ?? 'unauthenticated';

it('says each reason on a line, and which probe it concerns, to those who may know', async () => {
  const dead: string[] = [];
  const unready = ['one', 'two'];
  const server = await startHttpServer({
    address: { host: '127.0.0.1', port: 0 },
    contentType: 'text/plain; version=0.0.4',
    metrics: () => Promise.resolve('udn_test 1\n'),
    notAlive: () => dead,
    notReady: () => unready,
    access: (path, authorization) => Promise.resolve(authorize(path, authorization)),
  });
  try {
    const get = async (path: string, token = 'admin') => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
      return [response.status, await response.text()];
    };
    expect(await get('/readyz', 'tenant')).toEqual([
      503,
      'the reasons are shown to accounts with access to this path\n',
    ]);
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    expect(await get('/readyz?verbose')).toEqual([503, 'one\ntwo\n']);
    dead.push('stuck');
    unready.length = 0;
    expect(await get('/healthz')).toEqual([503, 'stuck\n']);
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
    expect(await get('/metrics')).toEqual([200, 'udn_test 1\n']);
    expect(await get('/readyz', 'tenant')).toEqual([200, 'ok\n']);
    for (const [token, status] of Object.entries({ tenant: 403, nobody: 401, late: 503 })) {
      const [code, text] = await get('/metrics', token);
      expect(code).toBe(status);
      expect(text).not.toContain('udn_test');
    }
    expect(await get('/other')).toEqual([404, 'not found\n']);
  } finally {
    await server.close();
  }
});
