import { describe, expect, it } from 'vitest';
import { formatRemote, parseRemote, parseRemotes } from './remote.ts';

describe('parseRemote', () => {
  it.each([
    ['unix:/run/ovn/ovnnb_db.sock', { transport: 'unix', path: '/run/ovn/ovnnb_db.sock' }],
    ['tcp:127.0.0.1:6641', { transport: 'tcp', host: '127.0.0.1', port: 6641 }],
    ['ssl:[fd00::1]:6642', { transport: 'ssl', host: 'fd00::1', port: 6642 }],
    ['tcp:[fe80::1%eth0]:6642', { transport: 'tcp', host: 'fe80::1%eth0', port: 6642 }],
    ['ssl:ovsdb.example', { transport: 'ssl', host: 'ovsdb.example', port: 6640 }],
  ] as const)('reads %s', (text, remote) => {
    expect(parseRemote(text)).toEqual(remote);
    expect(parseRemote(formatRemote(remote))).toEqual(remote);
  });

  it.each([
    '',
    'unix:',
    'punix:/x',
    'tcp:',
    'tcp:::1:6640',
    'tcp:[::g]:1',
    'tcp:host:0',
    'tcp:host:65536',
    'tcp:host:x',
    'http://x',
  ])('refuses %j', (text) =>
    expect(() => parseRemote(text)).toThrow(expect.objectContaining({ code: 'ERR_OVSDB_REMOTE' })),
  );

  it('reads a list', () =>
    expect(parseRemotes('tcp:a:1, ssl:[::1]:2').map(formatRemote)).toEqual(['tcp:a:1', 'ssl:[::1]:2']));
});
