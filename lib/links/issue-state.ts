/** The newest known state of an issue, reduced to what a defect shows. */
export interface IssueState {
  /** `acme/web#42` */
  name: string;
  title: string;
  body: string;
  author: string;
  url: string;
  state: string;
  stateReason: string | null;
  /** Sorted, so that the same labels give the same state. */
  labels: string[];
}
