import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { followResolvConf, parseDnsServer, serversIn } from './servers.ts';

describe('servers of resolv.conf', () => {
  it('are the first three that can be read', () => {
    const text = [
      '# nameserver 192.0.2.9',
      'search example.com',
      'nameserver 192.0.2.1',
      'nameserver\tfd00::1 ',
      'nameserver fe80::1%eth0',
      'nameserver not-an-address',
      'nameserver 127.0.0.53',
      'nameserver 192.0.2.4',
    ].join('\n');
    expect(serversIn(text).map(({ ip, port }) => `${ip} ${port}`)).toEqual([
      '192.0.2.1 53',
      'fd00::1 53',
      '127.0.0.53 53',
    ]);
    expect(serversIn('')).toEqual([]);
  });

  it('are read again when the file is replaced, and none of a file that is not there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'resolv-'));
    const path = join(folder, 'resolv.conf');
    const servers = followResolvConf(path);
    expect(servers.list()).toEqual([]);
    const changed = Promise.withResolvers<void>();
    servers.onChange(() => changed.resolve());
    await writeFile(`${path}.new`, 'nameserver 192.0.2.1\n');
    await rename(`${path}.new`, path);
    await changed.promise;
    expect(servers.list()).toEqual([{ ip: '192.0.2.1', port: 53 }]);
    servers.close();
    await rm(folder, { recursive: true });
  });
});

describe('a server of the flag', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', 53],
    ['192.0.2.1:5353', '192.0.2.1', 5353],
    ['2001:db8::1', '2001:db8::1', 53],
    ['[2001:db8::1]', '2001:db8::1', 53],
    ['[2001:db8::1]:5353', '2001:db8::1', 5353],
  ])('%s', (text, ip, port) => expect(parseDnsServer(text)).toEqual({ ip, port }));

  it.each(['', 'dns.example.com', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2:53', '[192.0.2.1', 'fe80::1%eth0'])(
    '%j is none',
    (text) => expect(() => parseDnsServer(text)).toThrow(),
  );
});
