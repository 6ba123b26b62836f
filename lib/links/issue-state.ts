/** The newest that is known of an issue, cut down to what a defect shows of it. */
export interface IssueState {
  /** `acme/web#42` */
  name: string;
  title: string;
  body: string;
  author: string;
  url: string;
  state: string;
  stateReason: string | null;
  /** Sorted, so that the same labels are the same state. */
  labels: string[];
}
