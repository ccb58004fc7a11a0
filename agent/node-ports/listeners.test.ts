import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readListeners } from './listeners.ts';

const REST = '00000000:00000000 00:00000000 00000000     0        0 1611 1 00000000ba76ae42 100 0 0 10 0';
const NO_PEER = { 8: '00000000:0000', 32: '00000000000000000000000000000000:0000' } as const;

const table = (...sockets: readonly (readonly [local: string, state: string])[]): string =>
  [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    ...sockets.map(([local, state], index) => {
      const peer = local.indexOf(':') === 8 ? NO_PEER[8] : NO_PEER[32];
      return `${String(index).padStart(4)}: ${local} ${peer} ${state} ${REST}`;
    }),
    '',
  ].join('\n');

const folder = (tables: Readonly<Record<string, string>>): string => {
  const path = mkdtempSync(join(tmpdir(), 'listeners-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(tables)) writeFileSync(join(path, name), text);
  return path;
};

/** As a machine with little-endian numbers writes it, which all are that this runs on. */
it('reads addresses and ports of both protocols and families', async () => {
  const path = folder({
    tcp: table(['00000000:07E8', '0A'], ['02001EAC:7580', '0A']),
    tcp6: table(
      ['00000000000000000000000000000000:7581', '0A'],
      ['000000FD000000000000000002000000:7582', '0A'],
      ['0000000000000000FFFF00000100007F:7583', '0A'],
    ),
    udp: table(['3500007F:0035', '07'], ['02001EAC:C350', '01'], ['00000000:7584', '07']),
    udp6: table(['00000000000000000000000001000000:7585', '07']),
  });
  expect((await readListeners(path)).map(({ protocol, ip, port }) => `${protocol} ${ip} ${port}`)).toEqual([
    'TCP 0.0.0.0 2024',
    'TCP 172.30.0.2 30080',
    'TCP :: 30081',
    'TCP fd00::2 30082',
    'TCP 127.0.0.1 30083',
    'UDP 127.0.0.53 53',
    'UDP 0.0.0.0 30084',
    'UDP ::1 30085',
  ]);
});

it('reads no more of TCP than those that listen, which come first', async () => {
  const path = folder({ tcp: table(['00000000:0050', '0A'], ['00000000:0051', '01'], ['00000000:0052', '0A']) });
  expect((await readListeners(path)).map(({ port }) => port)).toEqual([80]);
});

it('takes tables that are not there for empty, and no others', async () => {
  expect(await readListeners(folder({}))).toEqual([]);
  await expect(readListeners('/dev/null')).rejects.toThrow(/ENOTDIR/);
});
