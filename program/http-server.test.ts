import { expect, it } from 'vitest';
import { startHttpServer } from './http-server.ts';

it('says each reason on a line, and which probe it concerns', async () => {
  const dead: string[] = [];
  const unready = ['one', 'two'];
  const server = await startHttpServer({
    address: { host: '127.0.0.1', port: 0 },
    contentType: 'text/plain; version=0.0.4',
    metrics: () => Promise.resolve('udn_test 1\n'),
    notAlive: () => dead,
    notReady: () => unready,
  });
  try {
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return [response.status, await response.text()];
    };
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    expect(await get('/readyz?verbose')).toEqual([503, 'one\ntwo\n']);
    dead.push('stuck');
    unready.length = 0;
    expect(await get('/healthz')).toEqual([503, 'stuck\n']);
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
    expect(await get('/metrics')).toEqual([200, 'udn_test 1\n']);
    expect(await get('/other')).toEqual([404, 'not found\n']);
  } finally {
    await server.close();
  }
});
