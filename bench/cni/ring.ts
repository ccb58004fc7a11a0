/** Pods one after the other, so that none is used again before the node has forgotten it. @throws RangeError without pods */
export const ofRing = <Pod>(pods: readonly Pod[], index: number): Pod => {
  const pod = pods[index % pods.length];
  if (pod === undefined) throw new RangeError('no pods');
  return pod;
};
