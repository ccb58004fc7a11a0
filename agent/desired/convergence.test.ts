/** Whatever happens, and in whichever order: the desired state in the end depends on the facts of the end only. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nodeSubnetsId } from '../model/facts.ts';
import { TestCluster } from '../testing/cluster.ts';

const NODES = ['n1', 'n2', 'n3'];
const NAMESPACES = ['a', 'b'];
const NETWORKS = NAMESPACES.flatMap((namespace, index) => [
  {
    name: `${namespace}-l3`,
    namespace,
    nad: 'l3',
    id: 1 + index,
    topology: 'layer3',
    subnets: ['10.0.0.0/16'],
  } as const,
  {
    name: `${namespace}-l2`,
    namespace,
    nad: 'l2',
    id: 5 + index,
    topology: 'layer2',
    subnets: ['10.9.0.0/16'],
  } as const,
]);

/** One thing that is there in this form, or is not. */
interface Change {
  readonly id: string;
  readonly apply: (cluster: TestCluster) => unknown;
}

const nodes = fc
  .record({ node: fc.constantFrom(...NODES), known: fc.boolean(), id: fc.boolean(), there: fc.boolean() })
  .map(
    ({ node, known, id, there }): Change => ({
      id: `node ${node}`,
      apply: (it) => {
        const number = NODES.indexOf(node) + 2;
        const transit = [`100.88.0.${number}/16`, `fd97::${number}/64`];
        const encapIps = [`172.30.0.${number}`];
        if (there) it.node(node, { ...(id && { id: number, transit }), encapIps, withoutChassis: !known });
        else it.facts.set('node', node, undefined);
      },
    }),
  );

const subnets = fc
  .record({ node: fc.constantFrom(...NODES), network: fc.constantFrom('default', 'a-l3', 'b-l3'), there: fc.boolean() })
  .map(
    ({ node, network, there }): Change => ({
      id: `subnets ${node} ${network}`,
      apply: (it) => {
        const third = NODES.indexOf(node) + 1;
        if (!there) it.facts.set('nodeSubnets', nodeSubnetsId(node, network), undefined);
        else it.subnets(node, network, [`10.0.${third}.0/24`, `fd00:10:${third}::/64`]);
      },
    }),
  );

const networks = fc.record({ network: fc.constantFrom(...NETWORKS), there: fc.boolean() }).map(
  ({ network: { name, ...network }, there }): Change => ({
    // A namespace has one primary network: the other's fact goes when this one comes.
    id: `network ${network.namespace}`,
    apply: (it) => {
      for (const other of NETWORKS.filter(({ namespace }) => namespace === network.namespace)) {
        it.facts.set('network', other.name, undefined);
        it.facts.set('nad', `${other.namespace}/${other.nad}`, undefined);
      }
      it.facts.set('primaryNad', network.namespace, undefined);
      if (there)
        it.network(name, { ...network, tunnelKeys: network.topology === 'layer2' ? [16711683 + network.id] : [] });
    },
  }),
);

const namespaces = fc.record({ name: fc.constantFrom(...NAMESPACES), wants: fc.boolean(), there: fc.boolean() }).map(
  ({ name, wants, there }): Change => ({
    id: `namespace ${name}`,
    apply: (it) => (there ? it.namespace(name, wants) : it.facts.set('namespace', name, undefined)),
  }),
);

const pods = fc
  .record({
    namespace: fc.constantFrom(...NAMESPACES),
    name: fc.constantFrom('x', 'y'),
    node: fc.constantFrom(...NODES),
    uid: fc.constantFrom('1', '2'),
    finished: fc.boolean(),
    on: fc.subarray(['default', 'l3', 'l2']),
    there: fc.boolean(),
  })
  .map(
    ({ namespace, name, node, uid, finished, on, there }): Change => ({
      id: `pod ${namespace}/${name}`,
      apply: (it) => {
        const key = `${namespace}/${name}`;
        if (!there) return it.facts.set('pod', key, undefined);
        const last = name === 'x' ? 4 : 5;
        const networks = Object.fromEntries(
          on.map((nad) => [
            nad === 'default' ? nad : `${namespace}/${nad}`,
            { ips: [`10.0.1.${last}/24`], ...(nad === 'l2' && { tunnelId: last }) },
          ]),
        );
        return it.pod(key, { node, uid, finished, networks });
      },
    }),
  );

const changes = fc.array(fc.oneof(nodes, subnets, networks, namespaces, pods), { minLength: 1, maxLength: 40 });

it('events one by one give the document that a start with the last facts gives', () => {
  fc.assert(
    fc.property(changes, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (steps, flushes) => {
      const running = new TestCluster('n1');
      steps.forEach((step, index) => {
        step.apply(running);
        if (flushes[index] === true) running.engine.flush();
      });
      const restarted = new TestCluster('n1');
      for (const step of new Map(steps.map((step) => [step.id, step])).values()) step.apply(restarted);
      expect(running.render()).toEqual(restarted.render());
      expect(running.sinks.attachments).toEqual(restarted.sinks.attachments);
    }),
    { numRuns: 300 },
  );
});
