import { expect, it } from 'vitest';
import { OutsideChanges } from './outside-changes.ts';

const setUp = () => {
  let reported = 0;
  const changes = new OutsideChanges(() => reported++);
  const transaction = (generation: number, ...lines: string[]): void => {
    for (const line of lines) changes.line(line);
    changes.line(`# new generation ${generation} by process 470 (nft)`);
  };
  return { changes, transaction, reported: () => reported };
};

const OURS = 'add element inet ovn-udn names { "ovn-k8s-mp7" }';

it('reports transactions of others that touch our table, once each', () => {
  const { transaction, reported } = setUp();
  transaction(
    2,
    'add table inet kube-proxy',
    'add rule inet kube-proxy c accept comment "inet ovn-udn"'.replace('inet ovn-udn', 'x'),
  );
  transaction(3, 'add table inet ovn-udn-forms', 'delete table inet ovn-udn-forms');
  expect(reported()).toBe(0);
  transaction(4, 'add table ip other', 'delete rule inet ovn-udn c handle 5', OURS);
  transaction(5, 'delete table inet ovn-udn');
  expect(reported()).toBe(2);
});

it('does not report our own, whether the monitor or nft is faster', () => {
  const { changes, transaction, reported } = setUp();
  const faster = changes.own();
  transaction(2, OURS);
  faster(2);
  const slower = changes.own();
  slower(3);
  transaction(3, OURS);
  expect(reported()).toBe(0);
});

it('reports others that came while ours ran, at its end', () => {
  const { changes, transaction, reported } = setUp();
  const end = changes.own();
  transaction(2, OURS);
  transaction(3, OURS);
  expect(reported()).toBe(0);
  end(3);
  expect(reported()).toBe(1);
});

it('notifies when the kernel says that something was lost', () => {
  const { changes, reported } = setUp();
  changes.line('# ERROR: We lost some netlink events!');
  expect(reported()).toBe(1);
});
