import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createAuthority } from '../../sandbox/api/kube/certificate.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { encryptionState } from './encryption.ts';

const folder = mkdtempSync(join(tmpdir(), 'udn-encryption-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const encryption = {
  certificate: join(folder, 'node.pem'),
  privateKey: join(folder, 'key.pem'),
  authority: join(folder, 'ca.pem'),
};

const replicaWith = (datapathType: string): VswitchReplica =>
  ({
    rows: () => [{ external_ids: { 'system-id': 'chassis' } }],
    findOne: () => ({ datapath_type: datapathType }),
  }) as unknown as VswitchReplica;

const isolation = { lackingOfTunnels: () => undefined };

it('has nothing to say where tunnels are not to be encrypted', () => {
  const state = encryptionState({ encryption: undefined, replica: replicaWith('netdev'), isolation });
  expect(state.problems()).toEqual([]);
});

it('sees files that come, and says so to who waits', async () => {
  const clock = createFakeClock();
  const state = encryptionState({ encryption, replica: replicaWith(''), isolation }, clock);
  const look = vi.fn();
  const end = state.listen(look);
  expect(state.problems()).toEqual([`tunnels cannot be encrypted: ${encryption.certificate} cannot be read: ENOENT`]);
  const authority = createAuthority('ca', clock.wall());
  const { certificate, key } = authority.issue({ commonName: 'chassis', organizations: ['o'] }, ['chassis'], 'rsa');
  writeFileSync(encryption.certificate, certificate);
  writeFileSync(encryption.privateKey, key);
  writeFileSync(encryption.authority, authority.certificate);
  await clock.advance(4_000);
  expect(look).toHaveBeenCalledTimes(2);
  expect(state.problems()).toEqual([]);
  end();
  await clock.advance(4_000);
  expect(look).toHaveBeenCalledTimes(2);
});

it('refuses the userspace datapath, and waits for what keeps tunnels to IPsec', () => {
  const lackingOfTunnels = () => 'chain udn-tunnels-in: not programmed yet';
  const clock = createFakeClock();
  const state = encryptionState({ encryption, replica: replicaWith('netdev'), isolation: { lackingOfTunnels } }, clock);
  expect(state.problems()).toEqual(
    expect.arrayContaining([
      'tunnels cannot be encrypted: br-int has the userspace datapath, which does not support IPsec',
      'tunnels cannot be encrypted: chain udn-tunnels-in: not programmed yet',
    ]),
  );
});
