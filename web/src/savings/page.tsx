export function SavingsPage() {
  return <p />;
}
