import { describe, expect, it } from 'vitest';
import { hostEndMac } from '../../datapath/netlink/pod-interface/marks.ts';
import { parseMac } from '../../net/mac.ts';
import { SANDBOX, withTenant } from '../testing/cni-handler.ts';
import type { PodLink } from './plumbing.ts';

const NAMES = [SANDBOX.slice(0, 15), `${SANDBOX.slice(0, 13)}_1`] as const;
const LATER = 'fedcba9876543210fedcba9876543210';
const { signal } = new AbortController();

/** A tenant's pod that runs, and whose ports are gone. */
const withoutPorts = async () => {
  const it = withTenant();
  await it.call('ADD', { pod: 'red/a' });
  const before = it.ports.all();
  await it.ports.unplug(NAMES);
  const [{ pod } = { pod: undefined }] = [...it.cluster.sinks.attachments.values()];
  if (pod === undefined) throw new Error('no attachments of the pod');
  const linkOf = (name: string, interfaceName: string, nadKey: string): PodLink => {
    const mac = pod.networks.get(nadKey)?.mac;
    return { name, mac: mac && hostEndMac(mac), interfaceName };
  };
  const links = [linkOf(NAMES[0], 'eth0', 'default'), linkOf(NAMES[1], 'ovn-udn1', 'red/net')];
  const replug = (lost = links) => it.handler.replug({ pod, sandbox: SANDBOX, links: lost }, signal);
  return { ...it, before, replug, links };
};

describe('ports that were taken away', () => {
  it('are as they were, in one transaction, and held policies are followed before', async () => {
    const it = await withoutPorts();
    const { transactions } = it.ports;
    await it.replug();
    expect(it.ports.all()).toEqual(it.before);
    expect([it.ports.transactions - transactions, it.releases.at(-1)]).toEqual([1, 0]);
  });

  it('of some interfaces leave the others alone', async () => {
    const it = await withoutPorts();
    await it.replug(it.links.slice(1));
    expect(it.ports.all().map(({ interfaceName }) => interfaceName)).toEqual(['ovn-udn1']);
  });

  it('come back only when the host is kept from the pod', async () => {
    const it = await withoutPorts();
    it.isolation.lacking = 'its address';
    const replugged = it.replug();
    await expect.poll(() => it.isolation.waiting).toBe(1);
    expect([it.ports.all(), it.handler.isBusy(SANDBOX)]).toEqual([[], true]);
    it.isolation.lacking = undefined;
    await replugged;
    expect([it.ports.all().length, it.handler.isBusy(SANDBOX)]).toEqual([2, false]);
  });

  it('stay away when the runtime deletes the sandbox meanwhile, which waits for nothing', async () => {
    const it = await withoutPorts();
    it.isolation.lacking = 'its address';
    const replugged = it.replug();
    replugged.catch(() => undefined);
    await expect.poll(() => it.isolation.waiting).toBe(1);
    await it.call('DEL', { pod: 'red/a' });
    await expect(replugged).rejects.toMatchObject({ reason: 'podGone' });
    expect([it.ports.all(), it.isolation.waiting]).toEqual([[], 0]);
  });

  it('of an earlier sandbox stay away from a later one, whose ADD was under way', async () => {
    const it = await withoutPorts();
    it.isolation.lacking = 'its address';
    const added = it.call('ADD', { pod: 'red/a', sandbox: LATER });
    await expect.poll(() => it.isolation.waiting).toBe(1);
    const replugged = it.replug();
    replugged.catch(() => undefined);
    it.isolation.lacking = undefined;
    await added;
    await expect(replugged).rejects.toMatchObject({ reason: 'podGone' });
    expect(it.ports.all().map(({ sandbox }) => sandbox)).toEqual([LATER, LATER]);
  });

  it('that do not come in time are an error', async () => {
    const it = await withoutPorts();
    it.isolation.lacking = 'its address';
    const replugged = it.replug();
    replugged.catch(() => undefined);
    await expect.poll(() => it.isolation.waiting).toBe(1);
    await it.clock.advance(50_000);
    await expect(replugged).rejects.toThrow('host isolation of pod red/a was not programmed');
    expect(it.ports.all()).toEqual([]);
  });

  it('of no network of the pod stay away, and the others come back', async () => {
    const it = await withoutPorts();
    const other = { name: 'other_2', mac: parseMac('0e:58:0a:09:09:09'), interfaceName: 'net1' };
    await expect(it.replug([...it.links, other])).rejects.toThrow('no network of the pod that is known has the MAC');
    expect(it.ports.all()).toEqual(it.before);
  });

  it('of a pod that has gone stay away', async () => {
    const it = await withoutPorts();
    it.cluster.withoutPod('red/a');
    it.flush();
    await expect(it.replug()).rejects.toThrow('the pod is gone');
  });
});
