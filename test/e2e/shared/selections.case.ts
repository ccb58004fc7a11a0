/** Networks that a pod selects besides its own, and what it asks for in vain: said by ADD, events and udnctl. */
import { expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods } from '../support/cluster/cluster.ts';
import { layer3, nad, namespace, pod, secondaryLayer2 } from '../support/cluster/manifests.ts';
import { eventsOf } from '../support/faults/events.ts';

const NODE = 'node-1';

export const selections = (cluster: () => Sandbox): void => {
  const reasonsOf = async (name: string): Promise<string[]> =>
    (await eventsOf(cluster(), 'red', name)).map(({ reason, message }) => `${reason}: ${message}`);
  /** Also of a command that says so by its exit status. */
  const said = async (...argv: readonly string[]): Promise<string> => {
    try {
      return (await cluster().node(NODE, ['udnctl', ...argv])).stdout;
    } catch (error) {
      return String(Reflect.get(Object(error), 'stdout') ?? error);
    }
  };

  it('a pod that selects a NAD that does not exist waits for it, and ADD, events, explain and why name it', async () => {
    await applyAndWait(cluster(), [namespace('red'), layer3('red', 'net', ['10.72.0.0/16/24', 'fd00:72::/48/64'])]);
    const objects = await cluster().objects();
    const waiting = pod('red', 'selecting', NODE, { [POD_ANNOTATIONS.selection]: 'storage' });
    await objects.apply([waiting]);
    const message =
      'NetworkAttachmentDefinition red/storage does not exist, or cannot be read: the pod selects it as net1';
    await eventually(async () => expect(await reasonsOf('selecting')).toContain(`ErrorAttachingPod: ${message}`));
    expect(await said('explain', 'pod', 'red/selecting')).toContain(message);
    expect(await said('why', 'pod', 'red/selecting')).toContain(
      'the pod requests NetworkAttachmentDefinition red/storage, which does not exist',
    );
    await objects.apply([nad('red', 'storage', { cniVersion: '1.0.0', name: 'storage', type: 'macvlan' })]);
    const refused = 'plugin macvlan is not in --foreign-plugins of the agents';
    await eventually(async () => expect((await reasonsOf('selecting')).join('\n')).toContain(refused));
    const network = secondaryLayer2('red', 'storage', []);
    await objects.delete([nad('red', 'storage', {})]);
    await objects.apply([network]);
    await objects.wait('pod', 'red/selecting', 'ready', { timeoutSeconds: 60 });
    await deletePods(cluster(), 'red/selecting');
    await objects.delete([network]);
  }, 90_000);

  it('what a pod asks for and nothing follows is an event, and it is ready', async () => {
    const asking = pod('red', 'asking', NODE, { [POD_ANNOTATIONS.requestedPrimary]: 'blue' });
    await applyAndWait(cluster(), [asking]);
    const message = `${POD_ANNOTATIONS.requestedPrimary} has no effect: a pod is on the primary network of its namespace`;
    await eventually(async () => expect(await reasonsOf('asking')).toContain(`RequestIgnored: ${message}`));
    for (const command of ['explain', 'why']) expect(await said(command, 'pod', 'red/asking')).toContain(message);
  });
};
