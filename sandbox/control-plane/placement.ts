/** Which node a pod gets. */

export interface PodToPlace {
  readonly nodeSelector: Readonly<Record<string, string>>;
}

export interface PlaceableNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isReady: boolean;
  readonly isUnschedulable: boolean;
}

/**
 * Round robin over the nodes that are ready and have the labels of the pod's nodeSelector.
 * @param turn how many pods were placed before
 * @returns undefined while there is no such node
 */
export const placePod = (pod: PodToPlace, nodes: readonly PlaceableNode[], turn: number): string | undefined => {
  const fitting = nodes
    .filter((node) => node.isReady && !node.isUnschedulable && hasLabels(node, pod))
    .map(({ name }) => name)
    .sort();
  return fitting[turn % fitting.length];
};

const hasLabels = ({ labels }: PlaceableNode, { nodeSelector }: PodToPlace): boolean =>
  Object.entries(nodeSelector).every(([label, value]) => labels[label] === value);
