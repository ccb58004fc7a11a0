/** What an error calls an annotation: `annotation k8s.ovn.org/node-id of Node n1`. */
export const annotationOf = (kind: string, annotation: string, object: string): string =>
  `annotation ${annotation} of ${kind} ${object}`;
