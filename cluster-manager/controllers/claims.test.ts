import { describe, expect, it, vi } from 'vitest';
import { IPAM_CLAIM_FINALIZER } from '../../api/names.ts';
import { askPrimary, ipamClaim, layer2Udn, nad, netConf, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster, reopen } = clusterPerTest();

const { addressOf, entryOf, eventsAbout, statusOf, readyOf } = observe(() => cluster);

const PERSISTENT = { ipam: { lifecycle: 'Persistent' } };
const network = (key: string, subnets: readonly string[] = ['10.20.0.0/16']) => layer2Udn(key, subnets, PERSISTENT);
const naming = (claim: string, fields: Readonly<Record<string, unknown>> = {}) =>
  askPrimary({ 'ipam-claim-reference': claim, ...fields });

/** What became of writes to claims and pods, in their order. */
const writes = (start: number): string[] =>
  cluster.observations.slice(start).flatMap((one) => {
    if (one.source !== 'writer' || one.about.kind === 'coalesced') return [];
    const { kind, resource } = one.about;
    return ['ipamclaims', 'pods'].includes(resource.plural) ? [`${resource.plural} ${kind}`] : [];
  });

describe('a claim', () => {
  it('has what its first pod got, keeps it, and gives it to the next one', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), network('ns/net'), ipamClaim('ns/c', 'ns_net'));
    expect(await statusOf('ns/c')).toBeUndefined();
    await cluster.createAndSettle(pod('ns/a', naming('c')));
    expect(await statusOf('ns/c')).toMatchObject({ ips: ['10.20.0.3/16'], ownerPod: { name: 'a' } });
    expect(await readyOf('ns/c')).toMatch(/^True SuccessfulAllocation: /);
    expect((await cluster.get('IPAMClaim', 'ns/c'))?.metadata.finalizers).toEqual([IPAM_CLAIM_FINALIZER]);
    const first = await entryOf('ns/a', 'ns/net');
    await cluster.delete('Pod', 'ns/a');
    await cluster.createAndSettle(pod('ns/other'));
    expect(await statusOf('ns/c')).toMatchObject({ ips: ['10.20.0.3/16'] });
    expect(await statusOf('ns/c')).not.toHaveProperty('ownerPod');
    expect(await addressOf('ns/other', 'ns/net')).toBe('10.20.0.4/16');
    await cluster.createAndSettle(pod('ns/b', naming('c')));
    expect(await entryOf('ns/b', 'ns/net')).toMatchObject({
      ip_addresses: first.ip_addresses,
      mac_address: first.mac_address,
    });
    expect(await statusOf('ns/c')).toMatchObject({ ownerPod: { name: 'b' } });
  });

  it('says what it has before its pod has it', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), network('ns/net'), ipamClaim('ns/c', 'ns_net'));
    const start = cluster.observations.length;
    await cluster.createAndSettle(pod('ns/a', naming('c')));
    // The finalizer, the status, and only then the pod.
    expect(writes(start).slice(0, 3)).toEqual(['ipamclaims written', 'ipamclaims written', 'pods written']);
  });

  it('that can not be written keeps its pod waiting', async () => {
    let faults = 0;
    await reopen({
      fault: ({ plural }) => (plural === 'ipamclaims' && faults-- > 0 ? { status: 403, isDone: false } : undefined),
    });
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), network('ns/net'), ipamClaim('ns/c', 'ns_net'));
    const start = cluster.observations.length;
    faults = 4;
    await cluster.create(pod('ns/a', naming('c')));
    await vi.waitFor(async () => expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16'));
    expect(writes(start)).toEqual([
      ...Array(4).fill('ipamclaims failed'),
      'ipamclaims written',
      'ipamclaims written',
      'pods written',
    ]);
  });

  it('that goes before it can say what it has leaves its pod without, until there is one of its name', async () => {
    let isGone = true;
    await reopen({
      fault: ({ plural }) => (plural === 'ipamclaims' && isGone ? { status: 404, isDone: false } : undefined),
    });
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', naming('c')),
    );
    expect(await addressOf('ns/a', 'ns/net')).toBeUndefined();
    isGone = false;
    await cluster.delete('IPAMClaim', 'ns/c');
    await cluster.createAndSettle(ipamClaim('ns/c', 'ns_net'));
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
    expect(await statusOf('ns/c')).toMatchObject({ ips: ['10.20.0.3/16'], ownerPod: { name: 'a' } });
  });

  it('is waited for by its pod', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), network('ns/net'), pod('ns/a', naming('c')));
    expect(eventsAbout('a')).toEqual(['ErrorAllocatingPod: network ns_net: IPAMClaim ns/c does not exist']);
    await cluster.createAndSettle(ipamClaim('ns/c', 'ns_net'));
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
  });

  it('that is deleted goes when its pod is gone, and its address with it', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), network('ns/net', ['10.20.0.0/29']), ipamClaim('ns/c', 'ns_net'));
    await cluster.createAndSettle(pod('ns/a', naming('c')));
    await cluster.delete('IPAMClaim', 'ns/c');
    await cluster.createAndSettle(pod('ns/late', naming('c')));
    expect((await cluster.get('IPAMClaim', 'ns/c'))?.metadata.deletionTimestamp).toBeDefined();
    expect(eventsAbout('late')).toEqual(['ErrorAllocatingPod: network ns_net: IPAMClaim ns/c is being deleted']);
    await cluster.deleteAndSettle('Pod', 'ns/a');
    expect(await cluster.get('IPAMClaim', 'ns/c')).toBeUndefined();
    await cluster.createAndSettle(pod('ns/b'));
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.3/29');
  });

  it('that is gone by force leaves its address with its pod, and with the next claim of its name', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', naming('c')),
    );
    await cluster.delete('IPAMClaim', 'ns/c');
    await cluster.patchAndSettle('IPAMClaim', 'ns/c', { metadata: { finalizers: null } });
    expect(await cluster.get('IPAMClaim', 'ns/c')).toBeUndefined();
    await cluster.createAndSettle(pod('ns/b'));
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.4/16');
    await cluster.createAndSettle(ipamClaim('ns/c', 'ns_net'));
    expect(await statusOf('ns/c')).toMatchObject({ ips: ['10.20.0.3/16'], ownerPod: { name: 'a' } });
    await cluster.delete('Pod', 'ns/a');
    await cluster.createAndSettle(pod('ns/d'));
    expect(await addressOf('ns/d', 'ns/net')).toBe('10.20.0.5/16');
    expect((await statusOf('ns/c'))?.ips).toEqual(['10.20.0.3/16']);
  });

  it('is used by one pod at a time', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', naming('c')),
    );
    await cluster.createAndSettle(pod('ns/b', naming('c')));
    expect(await addressOf('ns/b', 'ns/net')).toBeUndefined();
    expect(eventsAbout('b')).toEqual(['ErrorAllocatingPod: network ns_net: IPAMClaim ns/c is in use by pod ns/a']);
    await cluster.patchAndSettle('Pod', 'ns/a', { status: { phase: 'Succeeded' } }, 'status');
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.3/16');
  });

  it('gives what it asks for, and what the pod asks for before that', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net', ['10.20.0.0/16', 'fd20::/64']),
      ipamClaim('ns/c', 'ns_net', { ipRequests: ['10.20.7.7/16', 'fd20::77/64'] }),
      ipamClaim('ns/d', 'ns_net'),
      pod('ns/a', naming('c')),
      pod('ns/b', naming('d', { ips: ['10.20.8.8', 'fd20::88'], mac: '02:00:00:00:00:08' })),
    );
    expect((await statusOf('ns/c'))?.ips).toEqual(['10.20.7.7/16', 'fd20::77/64']);
    expect((await statusOf('ns/d'))?.ips).toEqual(['10.20.8.8/16', 'fd20::88/64']);
    expect(await entryOf('ns/b', 'ns/net')).toMatchObject({ mac_address: '02:00:00:00:00:08' });
    await cluster.delete('Pod', 'ns/a');
    await cluster.createAndSettle(pod('ns/wrong', naming('c', { ips: ['10.20.9.9', 'fd20::99'] })));
    expect(eventsAbout('wrong')).toEqual([
      'ErrorAllocatingPod: network ns_net: 10.20.9.9, fd20::99 are requested, but IPAMClaim ns/c has 10.20.7.7, fd20::77',
    ]);
  });

  it('of a secondary network is named where the network is', async () => {
    cluster.start();
    const conf = netConf('ns/net', 'red', { role: 'secondary', allowPersistentIPs: true });
    const selection = (fields: object) => ({
      annotations: { 'k8s.v1.cni.cncf.io/networks': JSON.stringify([{ name: 'net', ...fields }]) },
    });
    await cluster.createAndSettle(
      tenant('ns'),
      nad('ns/net', conf),
      ipamClaim('ns/c', 'red'),
      pod('ns/a', selection({ 'ipam-claim-reference': 'c' })),
      pod('ns/both', selection({ 'ipam-claim-reference': 'c', ips: ['100.200.0.9'] })),
    );
    expect(await addressOf('ns/a', 'ns/net')).toBe('100.200.0.1/16');
    expect((await statusOf('ns/c'))?.ips).toEqual(['100.200.0.1/16']);
    expect(eventsAbout('both')).toEqual([
      'ErrorAllocatingPod: annotation k8s.v1.cni.cncf.io/networks of Pod ns/both: [0].ipam-claim-reference: excludes "ips": the addresses are those of the claim',
    ]);
  });

  it('may be named by the older annotation, which the newer one overrules', async () => {
    cluster.start();
    const older = { 'k8s.ovn.org/primary-udn-ipamclaim': 'old' };
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/old', 'ns_net'),
      ipamClaim('ns/new', 'ns_net'),
      pod('ns/a', { annotations: older }),
      pod('ns/b', { annotations: { ...(naming('new')['annotations'] as object), ...older } }),
    );
    expect((await statusOf('ns/old'))?.ips).toEqual([await addressOf('ns/a', 'ns/net')]);
    expect((await statusOf('ns/new'))?.ips).toEqual([await addressOf('ns/b', 'ns/net')]);
    // What the annotation says later is of no account.
    const changed = { 'k8s.ovn.org/primary-udn-ipamclaim': 'another' };
    await cluster.patch('Pod', 'ns/a', { metadata: { annotations: changed } });
    await cluster.deleteAndSettle('IPAMClaim', 'ns/old');
    expect((await statusOf('ns/old'))?.ownerPod).toEqual({ name: 'a' });
    await cluster.deleteAndSettle('Pod', 'ns/a');
    expect(await cluster.get('IPAMClaim', 'ns/old')).toBeUndefined();
  });

  it('of another network, or of one that keeps nothing, gives nothing, and says so', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      tenant('short'),
      network('ns/net'),
      layer2Udn('short/net', ['10.21.0.0/16']),
      ipamClaim('ns/c', 'other'),
      ipamClaim('short/c', 'short_net'),
      pod('ns/a', naming('c')),
      pod('short/b', naming('c')),
    );
    expect(eventsAbout('a')).toEqual(['ErrorAllocatingPod: network ns_net: IPAMClaim ns/c belongs to network other']);
    expect(eventsAbout('b')).toEqual([
      'ErrorAllocatingPod: network short_net does not allow persistent IPs, which IPAMClaim c is for',
    ]);
    expect(await statusOf('ns/c')).toBeUndefined();
    expect([await addressOf('ns/a', 'ns/net'), await addressOf('short/b', 'short/net')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('says why it has nothing', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net', ['10.20.0.0/29']),
      ...['full', 'taken', 'mac'].map((name) => ipamClaim(`ns/${name}`, 'ns_net')),
      pod('ns/a'),
      pod('ns/b', askPrimary({ mac: '02:00:00:00:00:02' })),
    );
    await cluster.create(pod('ns/on-taken', naming('taken', { ips: ['10.20.0.3'] })));
    await cluster.createAndSettle(pod('ns/on-mac', naming('mac', { mac: '02:00:00:00:00:02' })));
    expect(await readyOf('ns/taken')).toBe(
      'False IPAddressConflict: requested address 10.20.0.3 already belongs to ns/a (ns/net)',
    );
    expect(await readyOf('ns/mac')).toBe(
      'False MACAddressConflict: MAC 02:00:00:00:00:02 already belongs to ns/b (ns/net)',
    );
    await cluster.createAndSettle(pod('ns/c'), pod('ns/d'));
    await cluster.createAndSettle(pod('ns/on-full', naming('full')));
    expect(await readyOf('ns/full')).toBe('False SubnetExhausted: subnet 10.20.0.0/29 has no free address left');
    expect(eventsAbout('full')).toEqual([
      'ErrorAllocatingIPs: SubnetExhausted: subnet 10.20.0.0/29 has no free address left',
    ]);
    await cluster.deleteAndSettle('Pod', 'ns/d');
    expect(await readyOf('ns/full')).toMatch(/^True SuccessfulAllocation/);
    expect(await addressOf('ns/on-full', 'ns/net')).toBe((await statusOf('ns/full'))?.ips[0]);
  });

  it('has its status written back when somebody changes it', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', naming('c')),
    );
    await cluster.patchAndSettle('IPAMClaim', 'ns/c', { status: { ips: ['10.20.9.9/16'] } }, 'status');
    expect((await statusOf('ns/c'))?.ips).toEqual(['10.20.0.3/16']);
  });

  it('whose status says what is not for pods gives nothing', async () => {
    cluster.start();
    await cluster.create(tenant('ns'), network('ns/net'), ipamClaim('ns/c', 'ns_net'));
    await cluster.patchAndSettle('IPAMClaim', 'ns/c', { status: { ips: ['10.20.0.1/16'] } }, 'status');
    await cluster.createAndSettle(pod('ns/a', naming('c')));
    const message = 'address 10.20.0.1 is not available to pods: it is the gateway of subnet 10.20.0.0/16';
    expect(await readyOf('ns/c')).toBe(`False IPAddressConflict: ${message}`);
    expect(eventsAbout('a')).toEqual([`ErrorAllocatingPod: network ns_net: IPAMClaim ns/c: ${message}`]);
    expect(await addressOf('ns/a', 'ns/net')).toBeUndefined();
  });

  it('keeps its address when its network goes and comes back', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', naming('c')),
    );
    await cluster.delete('Pod', 'ns/a');
    await cluster.deleteAndSettle('UserDefinedNetwork', 'ns/net');
    await cluster.createAndSettle(network('ns/net'), pod('ns/b'));
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.4/16');
    expect((await statusOf('ns/c'))?.ips).toEqual(['10.20.0.3/16']);
  });
});
