/** Claims that several pods, or several claims, want something of: nobody waits for ever, and nothing is given twice. */
import { describe, expect, it } from 'vitest';
import { IPAM_CLAIM_FINALIZER } from '../../api/names.ts';
import { askPrimary, ipamClaim, layer2Udn, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster, reopen } = clusterPerTest();

const { addressOf, entryOf, eventsAbout, statusOf, readyOf } = observe(() => cluster);

const network = layer2Udn('ns/net', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } });
const naming = (claim: string, fields: Readonly<Record<string, unknown>> = {}) =>
  askPrimary({ 'ipam-claim-reference': claim, ...fields });

describe('a claim that two pods are refused', () => {
  it('reports the first refusal, once, and the second when the first pod is gone', async () => {
    let writes = 0;
    await reopen({
      fault: ({ plural }) => {
        if (plural === 'ipamclaims') writes += 1;
        return undefined;
      },
    });
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network,
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', naming('c', { ips: ['10.20.0.1'] })),
    );
    const first =
      'False InternalError: requested address 10.20.0.1 is not available to pods: it is the gateway of subnet 10.20.0.0/16';
    expect([writes, await readyOf('ns/c')]).toEqual([1, first]);
    await cluster.createAndSettle(pod('ns/b', naming('c', { ips: ['10.20.0.2'] })));
    expect([writes, await readyOf('ns/c')]).toEqual([1, first]);
    expect(eventsAbout('b')).toHaveLength(1);
    await cluster.deleteAndSettle('Pod', 'ns/a');
    expect(writes).toBe(2);
    expect(await readyOf('ns/c')).toMatch(
      /^False InternalError: requested address 10\.20\.0\.2 is not available to pods/,
    );
    await cluster.createAndSettle(pod('ns/d', naming('c')));
    expect(await readyOf('ns/c')).toMatch(/^True SuccessfulAllocation: /);
    expect((await statusOf('ns/c'))?.ips).toEqual([await addressOf('ns/d', 'ns/net')]);
  });
});

describe('a claim that is deleted', () => {
  it('between what it allocated and the notice to its pod lets the pod have it, and waits', async () => {
    let isDeleted = false;
    const isLeaving = () => cluster.manager.mirrors.caches.claims.get('ns/c')?.isLeaving === true;
    await reopen({
      fault: ({ plural }) => {
        if (plural !== 'ipamclaims' || isLeaving()) return undefined;
        // The ledger has given the address by now.
        if (!isDeleted) void cluster.delete('IPAMClaim', 'ns/c');
        isDeleted = true;
        return { status: 403, isDone: false };
      },
    });
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network,
      ipamClaim('ns/c', 'ns_net', {}, { finalizers: [IPAM_CLAIM_FINALIZER] }),
    );
    await cluster.create(pod('ns/a', naming('c')));
    await expect.poll(() => addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
    expect(await statusOf('ns/c')).toMatchObject({ ips: ['10.20.0.3/16'], ownerPod: { name: 'a' } });
    await cluster.delete('Pod', 'ns/a');
    await expect.poll(() => cluster.get('IPAMClaim', 'ns/c')).toBeUndefined();
  });
});

describe('what a claim has', () => {
  it('is the next one’s that had it in its status, and nobody else’s', async () => {
    await cluster.create(tenant('ns'), network);
    // Of one second: the name says which is older.
    for (const name of ['c1', 'c2', 'c3']) {
      await cluster.create(ipamClaim(`ns/${name}`, 'ns_net'));
      await cluster.patch('IPAMClaim', `ns/${name}`, { status: { ips: ['10.20.0.3/16'] } }, 'status');
    }
    cluster.start();
    await cluster.createAndSettle(pod('ns/a', naming('c2')));
    expect(await readyOf('ns/c2')).toMatch(/^False IPAddressConflict: /);
    await cluster.delete('IPAMClaim', 'ns/c1');
    await cluster.createAndSettle(pod('ns/b'));
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.4/16');
    expect(await readyOf('ns/c2')).toMatch(/^True SuccessfulAllocation: /);
    expect(await readyOf('ns/c3')).toMatch(/^False IPAddressConflict: /);
  });

  it('includes the MAC of its address, whoever asks for it', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), network, ipamClaim('ns/c', 'ns_net'), pod('ns/a', naming('c')));
    const { mac_address: mac } = await entryOf('ns/a', 'ns/net');
    await cluster.delete('Pod', 'ns/a');
    await cluster.createAndSettle(pod('ns/other', askPrimary({ mac })));
    expect(eventsAbout('other')).toEqual([
      `ErrorAllocatingPod: network ns_net: MAC ${mac} already belongs to IPAMClaim ns/c`,
    ]);
    await cluster.createAndSettle(pod('ns/b', naming('c', { mac })));
    expect(await entryOf('ns/b', 'ns/net')).toMatchObject({ mac_address: mac, ip_addresses: ['10.20.0.3/16'] });
  });
});
