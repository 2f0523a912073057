/** Business tables for tests of questions. */

export const TABLES: Record<string, string> = {
  'orders.csv': `Order ID,Customer,Country,Product,Quantity,Amount (EUR),Status,Order Date
1001,Acme Ltd,Germany,Laptop,2,"2,400.00",shipped,2024-01-15
1002,Globex,France,Monitor,5,"1,250.50",cancelled,2024-01-20
1003,Initech,Germany,Laptop,1,"1,200.00",shipped,2024-02-03
1004,Acme Ltd,Germany,Keyboard,10,450.10,shipped,2024-02-11
1005,Umbrella,Spain,Monitor,3,750.30,pending,2024-02-28
1006,Globex,France,Laptop,4,"4,800.00",shipped,2024-03-05
1007,Hooli,Italy,Mouse,25,500.25,cancelled,2024-03-09
1008,Acme Ltd,Germany,Monitor,2,500.20,cancelled,2024-03-17
1009,Initech,Germany,Mouse,8,160.00,shipped,2024-03-22
1010,Umbrella,Spain,Laptop,1,"1,200.00",shipped,2024-04-02
1011,Hooli,Italy,Keyboard,6,270.05,pending,2024-04-08
1012,Globex,France,Mouse,15,300.15,shipped,2024-04-19
`,
  'departments.csv': `Department;Head;Employees;Budget;Location
Sales;Maria Lopez;24;$1,200,000;Berlin
Engineering;John Smith;58;$4,500,000;Munich
Marketing;Aisha Khan;12;$900,000;Berlin
Support;Peter Novak;31;$750,000;Prague
Finance;Li Wei;9;$600,000;Munich
Legal;Sara Conti;5;$450,000;Milan
`,
  'employees.csv': `Name,Department,Salary,Start date,Remote,Age
Anna Berg,Engineering,82000,2019-03-01,yes,34
Ben Carter,Sales,54000,2021-07-15,no,29
Chloe Durand,Engineering,91000,2016-11-01,yes,41
David Egger,Support,43000,2022-01-10,no,26
Elena Fischer,Marketing,61000,2020-05-18,yes,38
Frank Gruber,Sales,58000,2018-09-03,no,45
Grace Hall,Engineering,76000,2023-02-01,yes,28
Hugo Ivanov,Finance,67000,2017-04-24,no,50
Ines Jansen,Support,45000,2021-10-04,yes,31
Jonas Keller,Finance,72000,2015-08-17,no,47
`,
  'invoices.md': `# Invoices

Open and settled invoices.

| Invoice | Supplier | Total | Due | Paid |
|---|---|---|---|---|
| INV-1 | Stationery World | 120.10 EUR | 5 January 2024 | yes |
| INV-2 | CloudHost | 1,840.00 EUR | 20 January 2024 | yes |
| INV-3 | CloudHost | 1,840.00 EUR | 20 February 2024 | no |
| INV-4 | Cleaning Pros | 640.20 EUR | 3 March 2024 | no |
| INV-5 | CloudHost | 1,990.00 EUR | 20 March 2024 | no |
| INV-6 | Stationery World | 89.95 EUR | 28 March 2024 | yes |
| INV-7 | Legal Partners | 3,200.00 EUR | 11 March 2024 | no |
`,
  'stock.json': JSON.stringify([
    { item: 'Bolt M6', warehouse: 'North', stock: 1200, price: 0.1, supplier: 'Fasteners Inc' },
    { item: 'Bolt M8', warehouse: 'North', stock: 800, price: 0.2, supplier: 'Fasteners Inc' },
    { item: 'Hammer', warehouse: 'South', stock: 45, price: 14.5, supplier: 'ToolCo' },
    { item: 'Drill', warehouse: 'South', stock: 12, price: 89.9, supplier: 'ToolCo' },
    { item: 'Ladder', warehouse: 'West', stock: 7, price: 129, supplier: 'Climb Ltd' },
    { item: 'Rope 10m', warehouse: 'West', stock: 60, price: 18.75, supplier: 'Climb Ltd' },
    { item: 'Saw', warehouse: 'North', stock: 0, price: 24.4, supplier: 'ToolCo' },
  ]),
}

/** Questions with the result, by table. The last third of each list was not used to build the parser. */
export const QUESTIONS: [question: string, ...expected: string[]][] = [
  ['How many orders were cancelled?', '3'],
  ['How many orders are there?', '12'],
  ['What is the total amount for Acme?', '3,350.30 EUR'],
  ['How many orders did Globex place?', '3'],
  ['What is the average amount of shipped orders?', '1,501.46 EUR'],
  ['Which country has the most orders?', 'Germany'],
  ['Which order has the largest amount?', '1006'],
  ['How many different customers are there?', '5'],
  ['How many orders were placed in March 2024?', '4'],
  ['What is the total quantity of laptops?', '8'],
  ['How many orders from Germany were shipped?', '4'],
  ['Total amount of cancelled orders', '2,250.95 EUR'],
  ['How many orders have an amount over 1,000?', '5'],
  ['Which department has the largest budget?', 'Engineering'],
  ['Which department has the fewest employees?', 'Legal'],
  ['What is the total budget?', '$8,400,000'],
  ['How many departments are in Berlin?', '2'],
  ['Who is the head of Support?', 'Peter Novak'],
  ['How many departments have more than 20 employees?', '3'],
  ['What is the budget of Finance?', '$600,000'],
  ['What is the average salary?', '64900'],
  ['Who earns the highest salary?', 'Chloe Durand'],
  ['How many employees work in Engineering?', '3'],
  ['Who is the youngest employee?', 'David Egger'],
  ['What is the average salary in Finance?', '69500'],
  ['How many employees are remote?', '5'],
  ['Which employees started after 2020?', 'Ben Carter', 'David Egger', 'Grace Hall', 'Ines Jansen'],
  ['Who has the lowest salary?', 'David Egger'],
  ['How many invoices are not paid?', '4'],
  ['What is the total of unpaid CloudHost invoices?', '3,830 EUR'],
  ['What is the total for CloudHost?', '5,670 EUR'],
  ['Which supplier has the largest invoice total?', 'Legal Partners'],
  ['How many invoices are due in March 2024?', '4'],
  ['What is the largest total?', '3,200 EUR'],
  ['Which item has the lowest stock?', 'Saw'],
  ['How many items are in the North warehouse?', '3'],
  ['What is the total stock in the South warehouse?', '57'],
  ['What is the price of the drill?', '89.9'],
  ['Which items cost more than 20?', 'Drill', 'Ladder', 'Saw'],
  ['How many items does ToolCo supply?', '3'],
]

export const HELD_QUESTIONS: [question: string, ...expected: string[]][] = [
  ['How many orders are pending?', '2'],
  ['What is the sum of all order amounts?', '13,781.55 EUR'],
  ['Which customer placed order 1005?', 'Umbrella'],
  ['How many monitors were ordered in total?', '10'],
  ['What is the smallest order amount?', '160 EUR'],
  ['How many orders came from Italy?', '2'],
  ['How many orders were placed before March 2024?', '5'],
  ['Where is the Legal department located?', 'Milan'],
  ['Which departments are located in Munich?', 'Engineering', 'Finance'],
  ['How many employees does Marketing have?', '12'],
  ['What is the maximum budget?', '$4,500,000'],
  ['How many people work in Sales?', '2'],
  ['Who is the oldest employee?', 'Hugo Ivanov'],
  ['What is the salary of Grace Hall?', '76000'],
  ['How many employees earn more than 60000?', '6'],
  ['Who started first?', 'Jonas Keller'],
  ['How many invoices does Stationery World have?', '2'],
  ['What is the average total of the invoices?', '1,388.61 EUR'],
  ['Which invoices are due in January 2024?', 'INV-1', 'INV-2'],
  ['Which item is the most expensive?', 'Ladder'],
  ['What is the total stock of all items?', '2124'],
  ['How many different suppliers are there?', '4'],
]
