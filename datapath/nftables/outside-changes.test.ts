import { expect, it } from 'vitest';
import { OutsideChanges } from './outside-changes.ts';

const setUp = () => {
  const causes: string[] = [];
  const changes = new OutsideChanges((cause) => causes.push(cause));
  const transaction = (generation: number, ...lines: string[]): void => {
    for (const line of lines) changes.line(line);
    changes.line(`# new generation ${generation} by process 470 (nft)`);
  };
  return { changes, transaction, causes };
};

const OURS = 'add element inet ovn-udn names { "ovn-k8s-mp7" }';

it('reports transactions of others that touch our table, once each', () => {
  const { transaction, causes } = setUp();
  transaction(
    2,
    'add table inet kube-proxy',
    'add rule inet kube-proxy c accept comment "inet ovn-udn"'.replace('inet ovn-udn', 'x'),
  );
  transaction(3, 'add table inet ovn-udn-forms', 'delete table inet ovn-udn-forms');
  expect(causes).toEqual([]);
  transaction(4, 'add table ip other', 'delete rule inet ovn-udn c handle 5', OURS);
  transaction(5, 'delete table inet ovn-udn');
  expect(causes).toEqual(['drift', 'drift']);
});

it('does not report our own, whether the monitor or nft is faster', () => {
  const { changes, transaction, causes } = setUp();
  const faster = changes.own();
  transaction(2, OURS);
  faster(2);
  const slower = changes.own();
  slower(3);
  transaction(3, OURS);
  expect(causes).toEqual([]);
});

it('reports others that came while ours ran, at its end', () => {
  const { changes, transaction, causes } = setUp();
  const end = changes.own();
  transaction(2, OURS);
  transaction(3, OURS);
  expect(causes).toEqual([]);
  end(3);
  expect(causes).toEqual(['drift']);
});

it('calls nobody to account for what the kernel lost, nor the next transaction of another table', () => {
  const { changes, transaction, causes } = setUp();
  changes.line(OURS);
  changes.line('# ERROR: We lost some netlink events!');
  transaction(3, 'add table ip other');
  expect(causes).toEqual(['input']);
});

it('does not call what may be ours a change of another program', () => {
  const { changes, transaction, causes } = setUp();
  const end = changes.own();
  transaction(2, OURS);
  // As when nft is ended because it takes too long.
  end(undefined);
  expect(causes).toEqual(['input']);
  transaction(3, OURS);
  expect(causes).toEqual(['input', 'drift']);
});
